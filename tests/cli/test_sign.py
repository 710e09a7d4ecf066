"""`stressreel sign` and `verify --signed-by`: by keys and certificates, beside model-signing's own command line."""

import json
import shutil
from pathlib import Path

import pytest
from commands import refuses, run, succeed
from stressreel.api.verify import published
from stressreel.builders.runtime.verify import run_checks
from stressreel.core.output import open_output

pytest.importorskip("model_signing", reason="needs the extra sign")
from hub import Hub
from signing import Pair, authority, key_pair, theirs

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
BUILD = ("build-clavi", "--charades", "sample", "--no-render", "--limit", 2)


@pytest.fixture
def out(unrendered: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(unrendered, tmp_path / "out"))


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return key_pair(tmp_path)


@pytest.fixture
def signed(out: Path, pair: Pair) -> Path:
    done = succeed("stressreel", "sign", out, "--key", pair.key)
    assert f"Wrote {out}/model.sig" in done.out
    return out


def problems(out: Path, by: Path) -> list[str]:
    """What is found of the signature."""
    (outcome,) = run_checks(open_output(out), published(by, None, None, None))
    return list(outcome.problems)


def test_a_signature_holds_by_ours_and_by_theirs(signed: Path, pair: Pair) -> None:
    done = succeed("stressreel", "verify", signed, "--no-decode", "--signed-by", pair.public)
    assert "ok    signature" in done.out
    file = signed / "model.sig"
    assert theirs("verify", "key", signed, "--signature", file, "--public_key", pair.public).returncode == 0
    assert "is signed" not in succeed(*BUILD, "--out", signed).err  # nothing changed
    assert problems(signed, pair.public) == []


@pytest.mark.full
@pytest.mark.parametrize("state", [True, False])
def test_theirs_hold_by_ours(state: bool, out: Path, pair: Pair) -> None:
    if not state:
        shutil.rmtree(out / ".build")
    done = theirs("sign", "key", out, "--private_key", pair.key, "--signature", out / "model.sig")
    assert done.returncode == 0, done.stderr
    assert problems(out, pair.public) == []
    if state:
        (out / ".build" / "plan.json").unlink()
        assert problems(out, pair.public) == [".build/plan.json was signed but is missing. Download it again"]


def test_what_changed_is_named(signed: Path, pair: Pair) -> None:
    (signed / "croissant.json").write_text("{}")
    (signed / "units.parquet").unlink()
    (signed / "questions" / "test-more.parquet").write_bytes(b"")
    assert [said.partition(".")[0] for said in problems(signed, pair.public)] == [
        *("croissant", "questions/test-more", "units"),
    ]


def test_foreign_damaged_and_missing_signatures(signed: Path, pair: Pair, tmp_path: Path) -> None:
    other = key_pair(tmp_path, "other")
    (said,) = problems(signed, other.public)
    assert said.startswith(f"model.sig was not created with {other.public}, or was modified")
    assert run("stressreel", "sign", signed, "--key", other.key).code == 0  # the earlier one is replaced
    assert problems(signed, other.public) == []
    bundle = json.loads((signed / "model.sig").read_text())
    bundle["dsseEnvelope"]["signatures"][0]["sig"] = "MAA="
    (signed / "model.sig").write_text(json.dumps(bundle))
    (said,) = problems(signed, other.public)
    assert said.startswith("model.sig was not created with")
    foreign = '{"verificationMaterial": {"publicKey": 1}, "dsseEnvelope": {"payload": "e30="}}'
    for content in ("{", foreign):
        (signed / "model.sig").write_text(content)
        (said,) = problems(signed, other.public)
        assert "model.sig cannot be read" in said
    (signed / "model.sig").unlink()
    assert problems(signed, other.public)[0].startswith("there is no model.sig: the output is not signed")


def test_an_encrypted_key(out: Path, tmp_path: Path) -> None:
    locked = key_pair(tmp_path, "locked", password="a word")
    (tmp_path / "right").write_text("a word\n")
    (tmp_path / "wrong").write_text("another\n")
    refuses(run("stressreel", "sign", out, "--key", locked.key), "cannot sign", "--password-file")
    done = run("stressreel", "sign", out, "--key", locked.key, "--password-file", tmp_path / "wrong")
    refuses(done, "cannot sign")
    assert "another" not in done.err
    assert not (out / "model.sig").exists()
    assert run("stressreel", "sign", out, "--key", locked.key, "--password-file", tmp_path / "right").code == 0
    assert problems(out, locked.public) == []


def test_certificates(out: Path, pair: Pair, tmp_path: Path) -> None:
    root, key, certificate = authority(tmp_path)
    succeed("stressreel", "sign", out, "--key", key, "--certificate", certificate)
    assert problems(out, root) == []
    file = out / "model.sig"
    assert theirs("verify", "certificate", out, "--signature", file, "--certificate_chain", root).returncode == 0
    (tmp_path / "other").mkdir()
    for by, says in ((pair.public, "a certificate"), (authority(tmp_path / "other")[0], "was not created with")):
        (said,) = problems(out, by)
        assert says in said
    refuses(run("stressreel", "sign", out, "--key", pair.key, "--certificate", certificate), str(certificate))


def test_writers_say_beforehand_that_it_will_not_hold(signed: Path, pair: Pair) -> None:
    said = f"note: {signed} is signed (model.sig). If its files change, the signature becomes invalid;"
    assert run("stressreel", "card", signed).err.startswith(said)
    assert problems(signed, pair.public) == []  # the card is the same
    assert said in succeed(*BUILD, "--out", signed, "--fresh", "--version", "2.0.0").err
    assert any(line.startswith("build.json differs from the signed file") for line in problems(signed, pair.public))
    (signed / "build.json").unlink()  # as of a build that was not finished
    assert said in run(*BUILD, "--out", signed, "--version", "2.0.0").err


def test_a_push_signs_before(out: Path, pair: Pair, hub: Hub) -> None:
    dry = run("stressreel", "push", out, "org/a", "--dry-run", "--sign", "--key", pair.key)
    assert "model.sig is written first and pushed too" in dry.out
    assert not (out / "model.sig").exists()
    succeed("stressreel", "push", out, "org/a", "--sign", "--key", pair.key)
    assert "model.sig" in hub.repositories["datasets/org/a"].files()
    assert problems(out, pair.public) == []
    assert "Nothing to push" in run("stressreel", "push", out, "org/a").out  # what is signed already goes as it is
