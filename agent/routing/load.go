package routing

import "assay/result"

// The counters by which the load of servers is compared, the first that all of them have.
const (
	generated = "generation_tokens"
	prompted  = "prompt_tokens"
)

// Spread tells what each server did between two scrapes of all of them; nil when they do not tell, or when there is one.
func Spread(servers []string, before, after []map[string]float64) *result.RoutedLoad {
	if len(servers) < 2 || len(before) != len(servers) || len(after) != len(servers) {
		return nil
	}
	for _, unit := range []string{generated, prompted} {
		per := map[string]int64{}
		for i, server := range servers {
			from, told := before[i][unit]
			to, still := after[i][unit]
			if !told || !still || to < from {
				break
			}
			per[Name(server)] = int64(to - from)
		}
		if len(per) == len(servers) {
			return &result.RoutedLoad{Unit: unit, PerServer: per, BusiestOverMean: busiest(per, len(servers))}
		}
	}
	return nil
}

// busiest is the largest count over the mean of n servers, also of those that have none; 0 when nothing was counted.
func busiest[N int | int64](per map[string]N, n int) float64 {
	var most, total N
	for _, count := range per {
		most, total = max(most, count), total+count
	}
	if total == 0 {
		return 0
	}
	return float64(most) * float64(n) / float64(total)
}
