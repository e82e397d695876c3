package integration

import (
	"encoding/json"
	"strings"
	"testing"
)

// bench reads what the plan says, measures the storage at several depths, and says what limits it; for people, too.
func TestBenchCommand(t *testing.T) {
	files := makeData(t, "contiguous", 3000, 2)
	args := []string{"bench", "--data", files[0], "--data", files[1], "--buffer", "60KB", "--batch-size", "32", "--ranks-per-node", "2", "--epochs", "2"}
	var got struct {
		Storage []struct {
			Depth             int
			RequestsPerSecond float64 `json:"requests_per_second"`
			Bandwidth         float64
		}
		BestDepth int `json:"best_depth"`
		Batches   int
		Loads     int64
		Hits      int64
		Requests  int
		Limit     string
		Later     float64 `json:"epoch_seconds"`
	}
	if err := json.Unmarshal([]byte(solarfs(t, append(args, "--json")...)), &got); err != nil {
		t.Fatal(err)
	}
	var plan planned
	if err := json.Unmarshal([]byte(solarfs(t, append(append([]string{"plan"}, args[1:]...), "--json")...)), &plan); err != nil {
		t.Fatal(err)
	}
	steps := (3000 + 63) / 64
	if got.Loads != plan.Loads || got.Loads+got.Hits != 2*3000 || got.Batches != 2*2*steps || got.Requests == 0 || got.Later <= 0 {
		t.Errorf("%+v; the plan has %d loads", got, plan.Loads)
	}
	if len(got.Storage) < 5 || got.Storage[0].Depth != 1 || got.Storage[0].RequestsPerSecond <= 0 || got.Storage[0].Bandwidth <= 0 || got.BestDepth < 1 {
		t.Errorf("the storage: %+v, best depth %d", got.Storage, got.BestDepth)
	}
	text := solarfs(t, args...)
	for _, part := range []string{"reads at once", "the plan predicts", "limited by"} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q:\n%s", part, text)
		}
	}
}

// What is wrong with bench's flags is said before anything is measured.
func TestBenchCommandWrong(t *testing.T) {
	file := makeData(t, "contiguous", 300, 1)[0]
	for _, args := range [][]string{{}, {"--data", file, "--time", "0s"}, {"--data", file, "x"}, {"--data", file, "--io-depth", "none"}, {"--data", file, "--epochs", "0"}, {"--data", file + "x"}} {
		if r := run(t, "", program, append([]string{"bench"}, args...)...); r.code != 2 || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, %s", args, r.code, r.stderr)
		}
	}
}
