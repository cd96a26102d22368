# docker build -t openset . && docker run --rm -v "$PWD:/data" openset evaluate scores.csv
FROM python:3.12-slim AS environment
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends git make && rm -rf /var/lib/apt/lists/*

FROM environment
COPY . /opt/openset
RUN pip install --no-cache-dir --constraint /opt/openset/constraints.txt '/opt/openset[plot]' && useradd --create-home user
USER user
WORKDIR /data
ENTRYPOINT ["openset"]
CMD ["--help"]
