"""Where weights come from: the embedded target, a folder, or the Hugging Face hub; every refusal is
one sentence.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from presto.models.catalogue import EMBEDDED, WeightsError
from presto.models.checkpoint import INDEX, read_index
from presto.models.weights import embedded_target
from presto.records import shown

WANTED = ("*.json", "*.safetensors", "*.jinja", "*.model", "*.txt")


@dataclass(frozen=True)
class Checkpoint:
    """A folder on this machine, and what it is called in a trace: its source and the revision that
    was resolved.
    """

    folder: Path
    label: str


def resolve(source: str, revision: str | None = None) -> Checkpoint:
    """The checkpoint of a source, fetched if need be; ``WeightsError`` or ``ValueError`` says what
    to do.
    """
    here = source == EMBEDDED or is_folder(source)
    if here and revision is not None:
        raise ValueError(f"only hub repositories have revisions, {source} is none: {revision}")
    if source == EMBEDDED:
        return Checkpoint(embedded_target(), source)
    if here:
        if (
            not (Path(source) / "config.json").is_file()
            and not (Path(source) / "adapter_config.json").is_file()
        ):
            raise ValueError(
                f"no checkpoint at {source}: expected a folder with config.json or "
                "adapter_config.json"
            )
        return Checkpoint(Path(source), Path(source).name)
    return _from_hub(source, revision)


def is_folder(source: str) -> bool:
    """Whether a source names a place on this machine: hub ids are ``owner/name``."""
    return Path(source).is_dir() or source.startswith((".", "/", "~")) or source.count("/") != 1


def is_here(source: str) -> bool:
    """Whether a source can be loaded without fetching much; asks no network. (The embedded target
    is 93 MB.)
    """
    if source == EMBEDDED or is_folder(source):
        return True
    from huggingface_hub import snapshot_download

    try:
        return _has_weights(
            Path(snapshot_download(source, allow_patterns=list(WANTED), local_files_only=True))
        )
    except (OSError, ValueError):  # the hub's errors for what is absent or incomplete
        return False


def _has_weights(folder: Path) -> bool:
    """Whether every file of weights that a snapshot's index names is there."""
    for index in folder.glob(f"*{INDEX}"):
        return all((folder / name).is_file() for name in read_index(index).values())
    return any(folder.glob("*.safetensors"))


def _from_hub(repo: str, revision: str | None) -> Checkpoint:
    """The snapshot of a hub repository in the hub's own cache (``HF_HOME``); an interrupted
    download goes on.
    """
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    if constants.HF_HUB_CACHE.startswith("~"):
        raise ValueError(
            "this user has no home folder: set HF_HOME to a folder that can be written"
        )
    at = f" at revision {revision}" if revision else ""
    wanted: dict[str, Any] = {"revision": revision, "allow_patterns": list(WANTED)}
    try:
        problem = _too_little_disk(repo, wanted)
        if not problem:
            folder = Path(snapshot_download(repo, **wanted))
            return Checkpoint(folder, f"{repo}@{folder.name}")
    except GatedRepoError:
        problem = (
            "its owner asks for consent: accept the terms on its hub page and run `hf auth login`"
        )
    except RevisionNotFoundError:
        problem = "the repository has no such revision"
    except RepositoryNotFoundError:
        problem = (
            "the hub has no such repository, or it is private: check the name, or run `hf auth "
            "login`"
        )
    except LocalEntryNotFoundError:
        problem = (
            "the hub is out of reach and nothing is in the local cache: go online once, or give a "
            "local folder"
        )
    except HFValidationError as error:
        problem = shown(str(error), 200)
    except HfHubHTTPError as error:
        problem = f"the download failed ({type(error).__name__}); run the command again, it resumes"
    except OSError as error:
        place = constants.HF_HUB_CACHE
        problem = (
            f"{error.strerror or type(error).__name__} with {place} (HF_HOME); run the command "
            "again, it resumes"
        )
    raise WeightsError(f"{repo}{at} could not be fetched: {problem}.")


def _too_little_disk(repo: str, wanted: dict[str, Any]) -> str:
    """Why the files still missing do not fit; empty if they do, or if the hub is out of reach."""
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import DryRunError

    try:
        files = snapshot_download(repo, dry_run=True, **wanted)
    except DryRunError:
        return ""
    missing = sum(file.file_size or 0 for file in files if file.will_download)
    cache = Path(constants.HF_HUB_CACHE)
    place = next(folder for folder in (cache, *cache.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if missing <= free:
        return ""
    return (
        f"it needs {missing / 1e9:.1f} GB more on the disk of {cache} (HF_HOME), which has "
        f"{free / 1e9:.1f} GB free"
    )
