"""Draw the person in a given pose and appearance.

Points are complex numbers, `forward + height * 1j` in pixels, relative to the person's position.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .paint import Brush, Colour, blend, box, colour, oval

TORSO, THIGH, SHIN, UPPER_ARM, FOREARM = 38.0, 32.0, 32.0, 24.0, 23.0
HEAD_RISE, HEAD_RADIUS = 22.0, 14.0
SHADE: Colour = (90, 40, 25)  # blended with skin colours to darken them
STRIDE = 44.0  # pixels per step
EAR = -5 - 3j  # where a hand holds a phone, relative to the head
AT_SIDE = -31 - 20j  # where a hand carries other things, relative to the shoulder


class Pose(NamedTuple):
    """The positions of the body parts, and their angles in radians (positive is forward)."""

    step: float = 0.0  # pixels forward of the person's position
    turn: float = 1.0  # 1 faces ahead, 0 the viewer, -1 backward
    hip: complex = 66j
    lean: float = 0.0  # of the torso
    nod: float = 0.0  # of the head, on top of the lean
    mouth: float = 0.0  # 0 for a closed smile, 1 for wide open
    near: complex = 7 + 57j  # hands
    far: complex = 3 + 57j
    near_foot: complex = -5 + 4j  # ankles
    far_foot: complex = 7 + 4j
    squint: float = 0.0  # 1 for eyes shut in a grimace


STAND = Pose()


def mix(first: Pose, second: Pose, share: float) -> Pose:
    """Interpolate between two poses. `share` is the weight of `second`, from 0 to 1."""
    return Pose._make(a + (b - a) * share for a, b in zip(first, second, strict=True))


def walking(distance: float, vigour: float) -> Pose:
    """Return the pose of a person after walking `distance` pixels. `vigour` is 0 for standing, 1 for full steps."""
    swing = math.pi * distance / STRIDE

    def foot(phase: float) -> complex:
        return vigour * (STRIDE / 2 * math.sin(phase) + 9j * max(0.0, math.cos(phase))) + 4j

    arm = vigour * 20 * math.sin(swing)
    stroll = Pose(
        hip=complex(0, 66 - vigour * 3.5 * abs(math.sin(swing))),
        lean=0.08 * vigour,
        near=complex(5 - arm, 59 + abs(arm) / 3),
        far=complex(5 + arm, 59 + abs(arm) / 3),
        near_foot=foot(swing),
        far_foot=foot(swing + math.pi),
    )
    return mix(STAND, stroll, min(1.0, 3 * vigour))


def alive(pose: Pose, t: float) -> Pose:
    """Make a pose sway slightly at `t` seconds."""
    return pose._replace(
        hip=pose.hip + 0.9 * math.sin(1.3 * t) + 0.5j * math.sin(2.1 * t),
        lean=pose.lean + 0.015 * math.sin(1.7 * t),
        nod=pose.nod + 0.06 * math.sin(0.9 * t),
    )


def bend(root: complex, tip: complex, upper: float, lower: float, way: int) -> list[complex]:
    """Return the root, joint and tip of a limb with two parts. A tip that is too far away is moved within reach.

    `upper` and `lower` are the lengths of the parts in pixels. `way` is 1 if the joint of a hanging limb bends forward
    (knee), -1 if it bends backward (elbow).
    """
    reach = tip - root
    length = min(max(abs(reach), abs(upper - lower) + 0.5), upper + lower - 0.01)
    along = reach / abs(reach) if reach else -1j
    cosine = (upper**2 + length**2 - lower**2) / (2 * upper * length)
    joint = root + upper * along * cmath.exp(1j * way * math.acos(min(1.0, cosine)))
    return [root, joint, root + along * length]


def phone(brush: Brush) -> None:
    """Draw an upright phone at the origin."""
    brush = brush.of("phone")
    brush.line([-8j, 9j], (52, 52, 62), 7)
    brush.line([-6j, 7j], (110, 210, 240), 3.5)


def _bag(brush: Brush) -> None:
    brush.line([-6 - 6j, 0j, 6 - 6j], (96, 48, 120), 2.5)
    brush.fill([-9 - 6j, 9 - 6j, 12 - 28j, -12 - 28j], (150, 82, 176))
    brush.fill([-9 - 6j, 9 - 6j, 7 - 14j, -7 - 14j], (120, 60, 146))


def _clothes(brush: Brush) -> None:
    brush.fill(
        [-6 + 2j, 6 + 2j, 16 - 6j, 12 - 13j, 8 - 10j, 8 - 30j, -8 - 30j, -8 - 10j, -12 - 13j, -16 - 6j], (72, 170, 190)
    )
    for y in (-14, -20, -26):
        brush.line([-7 + y * 1j, 7 + y * 1j], (250, 250, 248), 2)


def _shoes(brush: Brush) -> None:
    for x in (-6, 5):
        brush.line([0j, x - 10j], (250, 250, 248), 1.2)
        brush.fill([x - 4 - 9j, x + 2 - 9j, x + 3 - 17j, x + 10 - 19j, x + 10 - 23j, x - 4 - 23j], (190, 60, 50))
        brush.line([x - 4 - 23j, x + 10 - 23j], (250, 250, 248), 2.4)


def _dish(brush: Brush) -> None:
    brush.fill(oval(6j, 20, 7), (72, 122, 196))
    brush.fill(oval(7j, 16, 5), (250, 250, 248))


def _sandwich(brush: Brush) -> None:
    brush.fill([-18 - 3j, 18 - 3j, 25j], (240, 200, 128))
    brush.fill([-18 - 3j, 18 - 3j, 14 + 3j, -14 + 3j], (188, 130, 66))
    brush.line([-12 + 6j, 12 + 6j], (110, 180, 80), 4)
    brush.line([-9 + 11j, 9 + 11j], (206, 60, 54), 4)


def _medicine(brush: Brush) -> None:
    brush.fill(box(-9 - 2j, 9 + 20j), (230, 126, 34))
    brush.fill(box(-9 + 4j, 9 + 14j), (250, 250, 248))
    brush.fill(box(-8 + 20j, 8 + 27j), (240, 240, 240))
    brush.line([-4 + 9j, 4 + 9j], (206, 60, 54), 2.4)
    brush.line([5j, 13j], (206, 60, 54), 2.4)


def _picture(brush: Brush) -> None:
    brush.fill(box(-15 - 4j, 15 + 20j), (126, 82, 48))
    brush.fill(box(-12 - 1j, 12 + 17j), (176, 216, 240))
    brush.fill([-12 - 1j, -3 + 11j, 3 + 4j, 7 + 8j, 12 - 1j], (88, 160, 84))


CARRIED: Mapping[str, Callable[[Brush], None]] = {
    **{"phone": lambda brush: phone(brush.at(7j)), "bag": _bag, "clothes": _clothes, "shoes": _shoes, "dish": _dish},
    **{"sandwich": _sandwich, "medicine": _medicine, "picture": _picture},
}  # what the far hand can hold at the origin


@dataclass(frozen=True)
class Look:
    """The appearance of a person, with colours as `#rrggbb`."""

    skin: str
    hair: str
    top: str
    trousers: str
    shoes: str
    style: str  # hair style: short, bun, bob, curly, long or beard

    def paint(self, part: str) -> Colour:
        """Return the colour of a body part."""
        return colour(getattr(self, part))


@dataclass(frozen=True)
class Body:
    """A person in a pose, drawn with a brush at the person's position.

    `carried` names what the far hand holds, and `raised` how far the hand is raised, from 0 to 1: a phone to the ear,
    and other things behind the hip.
    """

    brush: Brush
    look: Look
    pose: Pose
    carried: str = ""
    raised: float = 0.0

    @property
    def shoulder(self) -> complex:
        """Return the position of the shoulder joint."""
        return self.pose.hip + TORSO * 1j * cmath.exp(-1j * self.pose.lean)

    @property
    def head(self) -> complex:
        """Return the position of the centre of the head."""
        return self.shoulder + HEAD_RISE * 1j * cmath.exp(-1j * (self.pose.lean + self.pose.nod / 2))

    def arm(self, side: str) -> list[complex]:
        """Return the positions of the shoulder, elbow and hand of the `near` or `far` arm."""
        root = self.shoulder + (-2 if side == "near" else 3) - 3j
        goal: complex = getattr(self.pose, side)
        if side == "far" and self.carried == "phone":
            goal += (self.head + EAR * cmath.exp(-1j * (self.pose.lean + self.pose.nod)) - goal) * self.raised
        elif side == "far" and self.carried:
            goal += (self.shoulder + AT_SIDE * cmath.exp(-1j * self.pose.lean) - goal) * self.raised
        foreshortened = 1 - 0.5 * self.raised if self.carried == "phone" and side == "far" else 1.0  # an elbow in front
        return bend(root, goal, UPPER_ARM * foreshortened, FOREARM, -1)

    def hand(self, side: str) -> complex:
        """Return the position of the `near` or `far` hand, which is always within reach of the arm."""
        return self.arm(side)[2]

    def grip(self) -> complex:
        """Return the middle of both hands, or the near hand if the far hand holds something else."""
        return self.hand("near") if self.carried else (self.hand("near") + self.hand("far")) / 2

    def draw_behind(self, t: float) -> None:
        """Draw everything except the near arm, so that a held object can be drawn before it."""
        if not self.carried:
            self._arm("far")
        self._leg("far")
        self._leg("near")
        self._torso()
        self._head(t)
        if self.carried:
            nod = self.pose.nod if self.carried == "phone" else 0.0
            turn = -self.pose.lean - nod - 0.1
            CARRIED[self.carried](self.brush.of(self.carried).at(self.hand("far"), turn * self.raised))
            self._arm("far")

    def draw_arm(self) -> None:
        """Draw the near arm in front of any object it holds."""
        self._arm("near")

    def _arm(self, side: str) -> None:
        dim = 0.0 if side == "near" else 0.25
        shoulder, elbow, hand = self.arm(side)
        sleeve = blend(self.look.paint("top"), (0, 0, 0), 0.1 + dim)
        skin = blend(self.look.paint("skin"), SHADE, dim)
        cuff = elbow + 0.35 * (hand - elbow)
        self.brush.line([elbow, hand], skin, 7)
        self.brush.line([shoulder, elbow, cuff], sleeve, 9.5)
        self.brush.disc(hand, 4.8, skin)

    def _leg(self, side: str) -> None:
        dim = 0.0 if side == "near" else 0.22
        root = self.pose.hip + (-2 if side == "near" else 3)
        foot: complex = getattr(self.pose, f"{side}_foot")
        hip, knee, ankle = bend(root, foot, THIGH, SHIN, 1)
        lifted = min(max((ankle.imag - 10) / 12, 0.0), 1.0)
        sole = (1 - lifted) + lifted * (ankle - knee) / abs(ankle - knee) * 1j
        trousers = blend(self.look.paint("trousers"), (0, 0, 0), dim)
        self.brush.line([ankle - 1.5 * sole, ankle + 8 * sole], self.look.paint("shoes"), 8)
        self.brush.line([hip, knee, ankle + 0.08 * (knee - ankle)], trousers, 11)

    def _torso(self) -> None:
        hip, shoulder = self.pose.hip, self.shoulder
        up = (shoulder - hip) / TORSO
        side, top = up * -1j, self.look.paint("top")
        self.brush.line([hip, hip + 3 * up], self.look.paint("trousers"), 19)
        self.brush.line([shoulder, shoulder + 10 * up], blend(self.look.paint("skin"), SHADE, 0.2), 9)
        outline = [(-10, 0), (-10.5, 14), (-11, 32), (-6, 40), (6, 40), (11, 32), (10.5, 14), (10, 0)]
        self.brush.fill([hip + across * side + along * up for across, along in outline], top)
        self.brush.line([hip - 8 * side + 2 * up, hip + 8 * side + 2 * up], top, 6)

    def _head(self, t: float) -> None:
        skin, hair, dark = self.look.paint("skin"), self.look.paint("hair"), (44, 34, 34)
        brush = self.brush.at(self.head, -self.pose.lean - self.pose.nod)
        if self.look.style == "bun":
            brush.disc(-11 + 12j, 7.5, hair)
        if self.look.style == "bob":
            brush.fill([2 + 13j, -15 + 6j, -17 - 13j, -12 - 17j, 1 - 13j], hair)
        if self.look.style == "long":
            brush.fill([2 + 14j, -15 + 7j, -19 - 16j, -17 - 34j, -6 - 35j, 1 - 12j], hair)
        brush.disc(13.2 - 1.5j, 3, skin)
        brush.disc(0j, HEAD_RADIUS, skin)
        rim = [cmath.rect(HEAD_RADIUS + 1.6, math.radians(a)) for a in range(35, 206, 15)]
        brush.fill([*rim, -9 - 3j, -7 + 4j, -3 + 6.5j, 4 + 9.5j], hair)
        if self.look.style == "curly":
            for angle in range(25, 215, 27):
                brush.disc(cmath.rect(HEAD_RADIUS + 0.5, math.radians(angle)), 5.2, hair)
        if self.look.style == "beard":
            chin = [cmath.rect(HEAD_RADIUS + 2, math.radians(a)) for a in range(205, 341, 15)]
            brush.fill([-8 + 1j, *chin, 12 - 4.5j, 2 - 4.5j], hair)
        brush.disc(-3.5 - 1j, 3.2, blend(skin, SHADE, 0.18))
        for eye in (4.5 + 2j, 10.5 + 2j):
            if self.pose.squint > 0.5:
                brush.line([eye - 2 - 0.8j, eye + 1.2j, eye + 2 - 0.8j], dark, 1.2)
            elif t % 3.4 > 3.25:  # a blink
                brush.line([eye - 1.8, eye + 1.8], dark, 1)
            else:
                brush.fill(oval(eye, 1.6, 2.3), dark)
            brush.line([eye - 2 + 4.6j, eye + 2 + 4.8j], hair, 1.2)
        talking = self.raised if self.carried == "phone" else 0.0
        mouth = max(self.pose.mouth, talking * (0.5 + 0.5 * math.sin(15 * t) * math.sin(3.3 * t)))
        if mouth > 0.6 and self.pose.squint > 0.5:
            brush.fill([1 - 4j, 13 - 4j, 12 - 8j, 7.5 - 12j, 3 - 9j], (130, 45, 45))
            brush.line([3 - 5j, 11.5 - 5j], (255, 255, 255), 1.8)
        elif mouth > 0.1:
            brush.fill(oval(7.5 - 7j, 2.4, 3.2 * mouth), (130, 45, 45))
        else:
            brush.line([3.5 - 6j, 6.5 - 7.6j, 10 - 6.6j], (130, 55, 50), 1.3)
