"""What can be guessed without the video: guessers of options and answers, and the audit that lets them all guess."""
