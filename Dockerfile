# The steps of `make run` (install, fetch the embedded target, serve), as a user without privileges on port 7860.
#   docker build -t presto .                                                                 CPU
#   docker build -t presto --build-arg BASE=nvidia/cuda:12.8.1-base-ubuntu24.04 .            CUDA
#   docker run -p 7860:7860 --read-only --tmpfs /tmp presto                                  nothing is written but /tmp
# PIP_EXTRA_INDEX_URL=… as a build argument adds an index, such as that of PyTorch's smaller CPU wheels.
ARG BASE=python:3.12-slim
FROM ${BASE}
ARG PIP_EXTRA_INDEX_URL=
RUN command -v python3 || (apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*)
RUN useradd --create-home --non-unique --uid 1000 user && install -d -o 1000 /home/user/app
USER 1000
WORKDIR /home/user/app
ENV HOME=/home/user PATH=/home/user/app/.venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 \
    PRESTO_CACHE=/home/user/presto HF_HOME=/tmp/huggingface GRADIO_TEMP_DIR=/tmp/gradio NUMBA_CACHE_DIR=/tmp/numba \
    GRADIO_ANALYTICS_ENABLED=False GRADIO_SERVER_NAME=0.0.0.0 PORT=7860
COPY --chown=1000 requirements.txt .
RUN python3 -m venv .venv
RUN .venv/bin/python -m pip install --no-cache-dir -r requirements.txt
COPY --chown=1000 presto presto
COPY --chown=1000 assets assets
RUN .venv/bin/python -m presto fetch
COPY --chown=1000 . .
EXPOSE 7860
HEALTHCHECK --start-period=60s --interval=30s --timeout=10s CMD python -c "import urllib.request; urllib.request.urlopen('http://localhost:7860/')"
CMD [".venv/bin/python", "app.py"]
