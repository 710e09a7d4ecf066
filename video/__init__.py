"""Decoding and encoding of videos; no other folder uses a decoder, an encoder or ffmpeg."""
