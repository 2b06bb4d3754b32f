#!/usr/bin/env bash
# Makes judge.json: what the judge of the fidelity bench says of the golden tables. Needs its Python packages
# (benches/fidelity/requirements.txt); run from the root of the crate. The synthetic tables stand in for a holdout, which
# no score that is kept looks at.
set -euo pipefail
folder=tests/evaluation/golden
score() {
    printf '"%s": ' "$1"
    "${PYTHON:-python3}" benches/fidelity/judge.py score "$folder/$1.metadata.json" "$folder/$1.real.csv" \
        "$folder/$1.synthetic.csv" "$folder/$1.synthetic.csv" --context "${@:2}"
}
{
    echo '{'
    score stores region; echo ,
    score pbc_visits trt age sex; echo ,
    score males_wage school ethn; echo ,
    score storms
    echo '}'
} > "$folder/judge.json"
