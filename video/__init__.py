"""Decode and encode videos. No other package may use decoders, encoders or FFmpeg."""
