"""Rules on what general taggers get wrong in captions; they use which readings a word can have at all."""
