# The base install on a CPU; see docs/docker.md.
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /wheels

FROM python:3.12-slim
ARG EXTRAS=""
COPY --from=build /wheels /wheels
RUN wheel="$(ls /wheels/*.whl)" \
 && pip install --no-cache-dir "${wheel}${EXTRAS:+[$EXTRAS]}" \
 && rm -r /wheels \
 && useradd --create-home screentest
USER screentest
ENV SCREENTEST_CACHE=/home/screentest/cache
WORKDIR /work
ENTRYPOINT ["screentest"]
CMD ["--help"]
