#!/usr/bin/env bash
# Formatting, vet, staticcheck, file length, import direction. Reports everything, then fails once.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
max_lines=500
failed=0

complain() {
	echo "lint: $*" >&2
	failed=1
}

unformatted=$(find . -name '*.go' -not -path './.git/*' -print0 | xargs -0r gofmt -l)
[[ -z $unformatted ]] || complain "not gofmt's form (run gofmt -w): ${unformatted//$'\n'/ }"

go vet ./... || complain "go vet"
go run "$staticcheck" ./... || complain "staticcheck"

while IFS= read -r -d '' file; do
	lines=$(wc -l <"$file")
	((lines <= max_lines)) || complain "$file has $lines lines, $max_lines are allowed"
done < <(find . -type f \( -name '*.go' -o -name '*.[ch]' -o -name '*.py' -o -name '*.sh' -o -name '*.md' \) -not -path './.git/*' -print0)

go test -count=1 -run '^TestImport' ./integration || complain "import direction"

exit "$failed"
