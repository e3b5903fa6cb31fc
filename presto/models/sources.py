"""Where weights come from: the embedded target, a folder, or the Hugging Face hub; every refusal is one sentence."""

from dataclasses import dataclass
from pathlib import Path

from presto.models.catalogue import EMBEDDED, WeightsError
from presto.models.weights import embedded_target

WANTED = ("*.json", "*.safetensors", "*.jinja", "*.model", "*.txt")


@dataclass(frozen=True)
class Checkpoint:
    """A folder on this machine, and what it is called in a trace: its source and the revision that was resolved."""

    folder: Path
    label: str


def resolve(source: str, revision: str | None = None) -> Checkpoint:
    """The checkpoint of a source, fetched if need be; ``WeightsError`` or ``ValueError`` says what to do."""
    if source == EMBEDDED:
        return Checkpoint(embedded_target(), source)
    if is_folder(source):
        if not (Path(source) / "config.json").is_file() and not (Path(source) / "adapter_config.json").is_file():
            raise ValueError(f"no checkpoint at {source}: expected a folder with config.json or adapter_config.json")
        return Checkpoint(Path(source), Path(source).name)
    return _from_hub(source, revision)


def is_folder(source: str) -> bool:
    """Whether a source names a place on this machine: hub ids are ``owner/name``."""
    return Path(source).is_dir() or source.startswith((".", "/", "~")) or source.count("/") != 1


def _from_hub(repo: str, revision: str | None) -> Checkpoint:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    at = f" at revision {revision}" if revision else ""
    try:
        folder = Path(snapshot_download(repo, revision=revision, allow_patterns=list(WANTED)))
    except GatedRepoError:
        problem = "its owner asks for consent: accept the terms on its hub page and run `hf auth login`"
    except RevisionNotFoundError:
        problem = "the repository has no such revision"
    except RepositoryNotFoundError:
        problem = "the hub has no such repository, or it is private: check the name, or run `hf auth login`"
    except LocalEntryNotFoundError:
        problem = "the hub is out of reach and nothing is in the local cache: go online once, or give a local folder"
    except (HfHubHTTPError, OSError) as error:
        problem = f"the download failed ({type(error).__name__}); run the command again, it resumes"
    else:
        return Checkpoint(folder, f"{repo}@{folder.name}")
    raise WeightsError(f"{repo}{at} could not be fetched: {problem}.")
