"""The only folder that touches a decoder, an encoder or ffmpeg."""
