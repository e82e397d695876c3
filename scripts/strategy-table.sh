#!/usr/bin/env bash
# Makes the tables of docs/STRATEGIES.md: the paper's largest PtychoNN set on 32 ranks, all strategies. About 15 minutes and
# 0.5 GB. Usage: scripts/strategy-table.sh [SOLARFS] > tables.md
set -euo pipefail
solarfs=${1:-bin/solarfs}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

for batch in 64 256; do
	for share in 0.20 0.42 0.65 0.85; do
		"$solarfs" simulate --samples 6309540 --sample-bytes 196608 --nodes 32 --batch-size "$batch" --epochs 5 \
			--buffer-share "$share" --strategy all --json >"$out/$batch-$share.json"
	done
done

/usr/bin/python3 - "$out" <<'PYTHON'
import glob, json, os, sys

for batch in ("64", "256"):
    print(f"\nBatch {batch} per rank: loads per epoch after the first, in per cent of the set (busiest node over mean, per step / per 16 steps)\n")
    runs = {}
    for path in sorted(glob.glob(os.path.join(sys.argv[1], batch + "-*.json"))):
        share = os.path.basename(path)[len(batch) + 1:-5]
        runs[f"{float(share):.0%}"] = json.load(open(path))
    print("| strategy | " + " | ".join(f"buffers {s}" for s in runs) + " |")
    print("|---" * (len(runs) + 1) + "|")
    rows = list(runs.values())[0]["rows"]
    for i, row in enumerate(rows):
        cells = []
        for run in runs.values():
            r = run["rows"][i]
            later = sum(r["loads_by_epoch"][1:]) / len(r["loads_by_epoch"][1:])
            cell = f'{100 * later / r["samples"]:.2f} ({r["busiest_over_mean_step"]:.2f} / {r["busiest_over_mean_16_steps"]:.2f})'
            if r["remote"]:
                cell += f', remote {100 * r["remote"] / (r["epochs"] - 1) / r["samples"]:.1f}'
            if r["max_batch"] != r["min_batch"]:
                cell += f', batches {r["min_batch"]}-{r["max_batch"]}'
            cells.append(cell)
        print(f'| {row["strategy"]} | ' + " | ".join(cells) + " |")
    bound = [100 * run["rows"][0]["loads_bound_by_epoch"][1] / run["rows"][0]["samples"] for run in runs.values()]
    print("| *bound* | " + " | ".join(f"*{b:.2f}*" for b in bound) + " |")
    print("\nsolar's epoch order, path cost with torch's order / particle swarm / best solver, and loads saved by the two: " + "; ".join(
        f'{s}: {o["torch"]["cost"]} / {o["swarm"]["cost"]} / {o["best"]["cost"]}, {o["swarm"]["loads_saved"]} and {o["best"]["loads_saved"]}'
        for s, o in ((s, run["epoch_orders"]) for s, run in runs.items())) + ".")
PYTHON
