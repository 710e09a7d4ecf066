"""A drawn world: any number of videos in which rooms, people, actions and cameras vary independently."""

RECORD = "world.json"
