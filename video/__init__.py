"""Decode and encode videos; no other folder uses a decoder, an encoder or ffmpeg."""
