"""What a run leaves behind, and where: in a pod the root is read-only, and the service is another user of the same group."""

import os
import stat
import subprocess
import sys

from conftest import ROOT, small_reviews
from result_checks import check_success


def test_a_run_writes_into_its_folder_only_and_its_group_may_change_and_delete_everything(make_run, tmp_path, schemas):
    spec = make_run({"all.csv": small_reviews(60)}, model="bert-tiny", epochs=1)
    spec.parent.chmod(0o2775)  # as Kubernetes makes a volume for a group
    given = set(spec.parent.rglob("*"))
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    env = {n: v for n, v in os.environ.items() if not n.startswith(("XDG_", "HF_", "TORCH"))}
    env |= {"HOME": str(tmp_path / "home"), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "trainer", "run", str(spec), "--launcher", "local"]
    done = subprocess.run(command, env=env, cwd=here, umask=0o077, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    check_success(spec.parent, schemas)
    assert {p.name for p in tmp_path.iterdir()} == {"shared", "here", "temporary"}
    assert list(here.iterdir()) == []
    assert {p.name for p in (tmp_path / "shared").iterdir()} == {"runs"}
    made = set(spec.parent.rglob("*")) - given
    assert len(made) > 20
    for path in made:
        mode, expected = path.stat().st_mode, 0o2775 if path.is_dir() else 0o664
        assert stat.S_IMODE(mode) == expected, (path, stat.filemode(mode))
