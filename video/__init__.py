"""Decode and encode videos; the only package that uses decoders, encoders or FFmpeg."""
