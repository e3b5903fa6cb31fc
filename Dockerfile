# The same steps as `make run`: install, fetch the embedded target, serve on port 7860 as a user without privileges.
FROM python:3.12-slim
RUN useradd --create-home --uid 1000 user
USER user
ENV HOME=/home/user PATH=/home/user/.local/bin:$PATH \
    GRADIO_ANALYTICS_ENABLED=False GRADIO_SERVER_NAME=0.0.0.0 PORT=7860
WORKDIR /home/user/app
COPY --chown=user requirements.txt .
RUN pip install --no-cache-dir --user -r requirements.txt
COPY --chown=user presto presto
RUN python -m presto fetch
COPY --chown=user . .
EXPOSE 7860
HEALTHCHECK --start-period=60s CMD python -c "import urllib.request; urllib.request.urlopen('http://localhost:7860/')"
CMD ["python", "app.py"]
