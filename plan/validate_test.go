package plan

import (
	"strings"
	"testing"
)

// rule is a change of a valid plan, by overrides, and the one fault it must give.
type rule struct {
	sets []string
	code string
	want string // without the place
}

func (c rule) check(t *testing.T, text string) {
	t.Helper()
	f := refused(t, text, c.sets...)
	_, got, _ := strings.Cut(f.Text, ": ")
	if f.Code != c.code || got != c.want {
		t.Errorf("got  %s %s\nwant %s %s", f.Code, got, c.code, c.want)
	}
}

const (
	digest   = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	docker   = "apiVersion: assay/v1\nname: n\nmodel: {name: m}\nserver: {engine: vllm, runtime: docker, image: v@" + digest + "}\nprotocol: {sweep: {concurrency: 1, requests: 1}}\n"
	endpoint = "apiVersion: assay/v1\nname: n\nmodel: {name: m}\nserver: {engine: vllm, runtime: endpoint, url: 'http://h:1'}\nprotocol: {serve: {rate: 10, duration: 1m}}\n"
	matrix   = "apiVersion: assay/v1\nname: n\nmodel: {name: m}\nserver: {engine: sim, runtime: process}\nprotocol: {matrix: {contexts: 8k, concurrency: 1}}\n"
)

func TestMissing(t *testing.T) {
	for name, c := range map[string]rule{
		"apiVersion":   {[]string{"apiVersion="}, "plan.missing", "apiVersion is missing: write one of assay/v1"},
		"name":         {[]string{"name="}, "plan.missing", "name is missing"},
		"model":        {[]string{"model="}, "plan.missing", "model is missing; it holds name, served, revision, path, hash, sha256"},
		"engine":       {[]string{"server.engine="}, "plan.missing", "server.engine is missing: write one of vllm, sglang, llamacpp, trtllm, tgi, ollama, sim, openai"},
		"image":        {[]string{"server.image="}, "plan.missing", "server.image is missing: runtime docker needs an image as name@sha256:<64 hex>"},
		"protocol":     {[]string{"protocol="}, "plan.missing", "protocol is missing; it holds sweep, serve, matrix"},
		"no protocol":  {[]string{"protocol.sweep="}, "plan.missing", "protocol holds none of sweep, serve, matrix; a plan has exactly one"},
		"concurrency":  {[]string{"protocol.sweep.concurrency="}, "plan.missing", "protocol.sweep.concurrency is missing: write one value or a list"},
		"end":          {[]string{"protocol.sweep.requests="}, "plan.missing", "protocol.sweep has no end: it needs requests, duration, min_duration or trajectories"},
		"router kind":  {[]string{"routers.0.points=all"}, "plan.missing", "routers.0.kind is missing: write one of none, nginx, haproxy, sglang-router, vllm-router, generic"},
		"mount target": {[]string{"server.mounts.0.source=/a"}, "plan.missing", "server.mounts.0.target is missing"},
		"path":         {[]string{"workload.kind=jsonl"}, "plan.missing", "workload.dataset is missing: kind jsonl needs a path"},
		"builtin":      {[]string{"workload.kind=agentic"}, "plan.missing", "workload.dataset is missing: kind agentic needs a path or a builtin"},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, docker) })
	}
}

func TestServerRules(t *testing.T) {
	for name, c := range map[string]rule{
		"apiVersion":       {[]string{"apiVersion=assay/v2"}, "plan.value", `apiVersion "assay/v2" is not known; did you mean "assay/v1"?`},
		"kubernetes":       {[]string{"server.runtime=kubernetes"}, "plan.value", `server.runtime "kubernetes" is not in this version; known are docker, process, endpoint`},
		"engine":           {[]string{"server.engine=vlm"}, "plan.value", `server.engine "vlm" is not known; did you mean "vllm"?`},
		"tag":              {[]string{"server.image=vllm/vllm:v1"}, "plan.unpinned", `server.image "vllm/vllm:v1" has no digest: write name@sha256:<64 hex>`},
		"short digest":     {[]string{"server.image=v@sha256:12ab"}, "plan.value", `server.image "v@sha256:12ab" is not an image: write name@sha256:<64 hex>`},
		"upper digest":     {[]string{"server.image=v@" + strings.ToUpper(digest)}, "plan.value", `server.image "v@` + strings.ToUpper(digest) + `" is not an image: write name@sha256:<64 hex>`},
		"base tag":         {[]string{"server.base_image=vllm/vllm:v1"}, "plan.unpinned", `server.base_image "vllm/vllm:v1" has no digest: write name@sha256:<64 hex>`},
		"base of nothing":  {[]string{"server.base_image=Vllm!"}, "plan.value", `server.base_image "Vllm!" is not an image: write name@sha256:<64 hex>`},
		"url with docker":  {[]string{"server.url=http://h"}, "plan.value", "server.url has no meaning for runtime docker"},
		"gpus":             {[]string{"server.gpus=first"}, "plan.value", `server.gpus "first" is not known`},
		"shm":              {[]string{"server.shm_size=16 GB"}, "plan.value", `server.shm_size "16 GB" is not a size: write 16g or 512m`},
		"network":          {[]string{"server.network=hosts"}, "plan.value", `server.network "hosts" is not known; did you mean "host"?`},
		"port":             {[]string{"server.port=65536"}, "plan.value", "server.port is 65536; the most is 65535"},
		"negative port":    {[]string{"server.port=-1"}, "plan.value", "server.port is -1; the least is 0"},
		"mount":            {[]string{"server.mounts.0.source=data", "server.mounts.0.target=/d"}, "plan.value", `server.mounts.0.source "data" is not an absolute path: write it from / on`},
		"same target":      {[]string{"server.mounts.0={source: /a, target: /d}", "server.mounts.1={source: /b, target: /d/}"}, "plan.value", "server.mounts.1.target /d/ is the target of two mounts"},
		"variable":         {[]string{"server.env.A-B=1"}, "plan.value", `server.env: "A-B" is not the name of a variable: letters, digits and _`},
		"variable, zero":   {[]string{`server.env.A="\0"`}, "plan.value", "server.env.A holds a zero byte"},
		"token":            {[]string{"server.token_env=sk-secret"}, "plan.value", "server.token_env is not the name of a variable"},
		"endpoint":         {[]string{"server.endpoint=chats"}, "plan.value", `server.endpoint "chats" is not known; did you mean "chat"?`},
		"any model":        {[]string{"model.name=*"}, "plan.value", `model.name "*" stands for the model of a running server; runtime docker starts one`},
		"name, long":       {[]string{"name=" + strings.Repeat("ä", 101)}, "plan.value", "name has 101 characters; the most is 100"},
		"name, control":    {[]string{`name="a\e[31m"`}, "plan.value", `name "a\x1b[31m" holds a character that cannot be printed`},
		"name, lines":      {[]string{`name="a\nb"`}, "plan.value", `name "a\nb" holds a character that cannot be printed`},
		"model, long":      {[]string{"model.name=" + strings.Repeat("m", 201), "model.served=m"}, "plan.value", "model.name has 201 characters; the most is 200"},
		"served, control":  {[]string{`model.served="a\tb"`}, "plan.value", `model.served "a\tb" holds a character that cannot be printed`},
		"secret":           {[]string{"server.env.HF_TOKEN=hf_x"}, "plan.secret", "server.env.HF_TOKEN looks like a secret, which would stand in every result"},
		"secret, lower":    {[]string{"server.env.password=x"}, "plan.secret", "server.env.password looks like a secret, which would stand in every result"},
		"from, no name":    {[]string{"server.env_from=HF_TOKEN=hf_x"}, "plan.value", "server.env_from.0 is not the name of a variable"},
		"from, twice":      {[]string{"server.env_from=A,A"}, "plan.value", "server.env_from.1 A stands there twice"},
		"from, written":    {[]string{"server.env_from=A", "server.env.A=1"}, "plan.value", "server.env_from.0 A stands in server.env too"},
		"grace":            {[]string{"server.stop.grace=721h"}, "plan.value", "server.stop.grace is 721h; the most is 720h, 30 days"},
		"concurrency":      {[]string{"protocol.sweep.concurrency=100001"}, "plan.value", "protocol.sweep.concurrency.0 is 100001; the most is 100000"},
		"requests":         {[]string{"protocol.sweep.requests=1000000001"}, "plan.value", "protocol.sweep.requests is 1000000001; the most is 1000000000"},
		"ready":            {[]string{"server.ready.timeout=0"}, "plan.value", "server.ready.timeout must be more than 0"},
		"ready, stage":     {[]string{"server.ready.health=0s"}, "plan.value", "server.ready.health must be more than 0"},
		"expect":           {[]string{"server.expect.config_sha256=abc"}, "plan.value", "server.expect.config_sha256 is not 64 hex digits in lower case"},
		"expect, least":    {[]string{"server.expect.tensor_parallel=-1"}, "plan.value", "server.expect.tensor_parallel is -1; the least is 0"},
		"timeout":          {[]string{"client.timeout=0s"}, "plan.value", "client.timeout must be more than 0"},
		"client":           {[]string{"client.kind=aiprof"}, "plan.value", `client.kind "aiprof" is not known; did you mean "aiperf"?`},
		"interval":         {[]string{"telemetry.interval=0s"}, "plan.value", "telemetry.interval must be more than 0"},
		"close samples":    {[]string{"telemetry.interval=1ns"}, "plan.value", "telemetry.interval is 1ns; it is 10ms at least and 1m at most"},
		"far samples":      {[]string{"telemetry.interval=10h"}, "plan.value", "telemetry.interval is 10h; it is 10ms at least and 1m at most"},
		"check id":         {[]string{"checks.Idle=required"}, "plan.value", `checks: there is no check "Idle"; did you mean "idle"?`},
		"check value":      {[]string{`checks.idle=" "`}, "plan.value", `checks.idle is " "; write required, relaxed or ignore; this check takes no value`},
		"router span":      {[]string{"routers.0={points: 8-x, kind: none}"}, "plan.value", `routers.0.points: "8-x" is not a range of concurrencies: write "32-384", "512" or "all"`},
		"router backwards": {[]string{"routers.0={points: 9-8, kind: none}"}, "plan.value", `routers.0.points: "9-8" ends before it begins: write "8-9"`},
		"router zero":      {[]string{"routers.0={points: 0-8, kind: none}"}, "plan.value", `routers.0.points: "0-8" is not a range of concurrencies: write "32-384", "512" or "all"`},
		"overlap":          {[]string{"routers.0={points: 1-8, kind: none}", "routers.1={points: 8, kind: none}"}, "plan.value", `routers.1.points "8" overlaps the points of another router`},
		"overlap of all":   {[]string{"routers.0={points: 1-8, kind: none}", "routers.1={points: all, kind: none}"}, "plan.value", `routers.1.points "all" overlaps the points of another router`},
		"router image":     {[]string{"routers.0={points: all, kind: nginx, image: nginx}"}, "plan.unpinned", `routers.0.image "nginx" has no digest: write name@sha256:<64 hex>`},
		"router no image":  {[]string{"routers.0={points: all, kind: nginx, runtime: docker}"}, "plan.missing", `routers.0.image is missing: routers.0 with runtime docker needs an image as name@sha256:<64 hex>`},
		"router process":   {[]string{"routers.0={points: all, kind: nginx, runtime: process, image: a}"}, "plan.value", "routers.0.image has no meaning for runtime process"},
		"router none":      {[]string{"routers.0={points: all, kind: none, image: a}"}, "plan.value", "routers.0 has kind none and starts nothing"},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, docker) })
	}
}

func TestLaunchRules(t *testing.T) {
	for name, c := range map[string]rule{
		"gpu of a word":   {[]string{"server.gpus=0,b"}, "plan.value", `server.gpus "0,b" is not known`},
		"gpu sets":        {[]string{"server.replicas=3", `server.gpus="0;1"`}, "plan.value", "server.gpus has 2 sets for 3 servers"},
		"cpus":            {[]string{"server.cpus=0-"}, "plan.value", `server.cpus "0-" is not known`},
		"numa":            {[]string{"server.numa=near"}, "plan.value", `server.numa "near" is not known`},
		"cdi of no gpu":   {[]string{"server.gpu_access=cdi", "server.gpus=none"}, "plan.value", "server.gpu_access is cdi, but server.gpus is none"},
		"numa of no gpu":  {[]string{"server.numa=gpu", "server.gpus=none"}, "plan.value", "server.numa is gpu, but server.gpus is none"},
		"ports":           {[]string{"server.replicas=2", "server.port=65535"}, "plan.value", "server.port 65535 leaves no ports for 2 servers"},
		"replicas":        {[]string{"server.replicas=65"}, "plan.value", "server.replicas is 65; the most is 64"},
		"ipc":             {[]string{"server.ipc=host", "server.shm_size=1g"}, "plan.value", "server.shm_size has no meaning with ipc: host"},
		"device":          {[]string{"server.devices=infiniband"}, "plan.value", `server.devices.0 "infiniband" is not an absolute path: write it from / on`},
		"capability":      {[]string{"server.capabilities=ipc lock"}, "plan.value", `server.capabilities: "ipc lock" is not a capability`},
		"ulimit":          {[]string{"server.ulimits.memory=1"}, "plan.value", `server.ulimits: "memory" is not known: write one of as, core, cpu, data, fsize, locks, memlock, msgqueue, nice, nofile, nproc, rss, rtprio, rttime, sigpending, stack`},
		"ulimit, value":   {[]string{"server.ulimits.memlock=much"}, "plan.value", `server.ulimits.memlock "much" is not a limit: write unlimited, "1048576" or "1024:1048576"`},
		"user":            {[]string{"server.user=root"}, "plan.value", `server.user "root" is not known`},
		"model hash":      {[]string{"model.path=/m", "model.sha256=1"}, "plan.value", "model.sha256 is not 64 hex digits in lower case"},
		"model elsewhere": {[]string{"model.hash=true"}, "plan.missing", "model.path is missing: only files that are here can be hashed"},
		"router args":     {[]string{"routers.0={points: all, kind: nginx, args: [a]}"}, "plan.value", "routers.0: nginx is told everything by its configuration"},
		"router port":     {[]string{"routers.0={points: all, kind: generic, command: [r], args: [a]}"}, "plan.missing", "routers.0.args do not say {port}: assay must know where it listens"},
		"router program":  {[]string{"routers.0={points: all, kind: generic, args: ['{port}']}"}, "plan.missing", "routers.0.command is missing: a generic router has no program of its own"},
		"router health":   {[]string{"routers.0={points: all, kind: vllm-router, health: /h}"}, "plan.value", "routers.0.health has a meaning for kind generic only"},
		"router header":   {[]string{"routers.0={points: all, kind: vllm-router, upstream_header: 'a b'}"}, "plan.value", `routers.0.upstream_header "a b" is not the name of a header`},
		"router secret":   {[]string{"routers.0={points: all, kind: vllm-router, env: {API_KEY: x}}"}, "plan.secret", "routers.0.env.API_KEY looks like a secret, which would stand in every result"},
		"client key":      {[]string{"client.tokenizer=/t"}, "plan.value", "client.tokenizer has no meaning for the client native"},
		"client image":    {[]string{"client.kind=aiperf", "client.image=a"}, "plan.unpinned", `client.image "a" has no digest: write name@sha256:<64 hex>`},
		"client no image": {[]string{"client.kind=aiperf", "client.runtime=docker"}, "plan.missing", "client.image is missing: client.runtime docker needs an image as name@sha256:<64 hex>"},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, docker) })
	}
	for _, set := range []string{
		"all", "none", "0,1", "0-3", `"0-3;4-7"`, "count:2", "0000:1b:00.0", "GPU-5e2f4b1a-0000-1111-2222-333344445555", "MIG-5e2f4b1a-0000-1111-2222-333344445555",
	} {
		if p, err := ParseSet([]byte(docker), []string{"server.replicas=2", "server.gpus=" + set}); err != nil {
			t.Errorf("server.gpus %s: %v", set, err)
		} else if p.Client.Runtime != "" {
			t.Errorf("client.runtime %q", p.Client.Runtime)
		}
	}
}

func TestEndpointRules(t *testing.T) {
	for name, c := range map[string]rule{
		"no url":     {[]string{"server.url="}, "plan.missing", "server.url is missing: runtime endpoint needs the URL of a running server"},
		"scheme":     {[]string{"server.url=h:8000"}, "plan.value", "server.url is not a URL with http:// or https:// and a host, nor unix:///path/of/socket"},
		"host":       {[]string{"server.url=http://:80"}, "plan.value", "server.url is not a URL with http:// or https:// and a host, nor unix:///path/of/socket"},
		"password":   {[]string{"server.url=http://u:p@h"}, "plan.value", "server.url holds a user or password, which would stand in every result"},
		"query":      {[]string{"server.url=http://h?key=1"}, "plan.value", "server.url has a query or fragment"},
		"image":      {[]string{"server.image=v@" + digest}, "plan.value", "server.image has no meaning for runtime endpoint"},
		"command":    {[]string{"server.command=vllm"}, "plan.value", "server.command has no meaning for runtime endpoint"},
		"args":       {[]string{"server.args=-x"}, "plan.value", "server.args has no meaning for runtime endpoint"},
		"env from":   {[]string{"server.env_from=A"}, "plan.value", "server.env_from has no meaning for runtime endpoint"},
		"most":       {[]string{"protocol.serve.max_concurrency=100001"}, "plan.value", "protocol.serve.max_concurrency is 100001; the most is 100000"},
		"duration":   {[]string{"protocol.serve.duration=10000h"}, "plan.value", "protocol.serve.duration is 10000h; the most is 720h, 30 days"},
		"env":        {[]string{"server.env.A=1"}, "plan.value", "server.env has no meaning for runtime endpoint"},
		"gpus":       {[]string{"server.gpus=all"}, "plan.value", "server.gpus has no meaning for runtime endpoint"},
		"rate":       {[]string{"protocol.serve.rate=10,0"}, "plan.value", "protocol.serve.rate.1 must be more than 0"},
		"rate below": {[]string{"protocol.serve.rate=-1"}, "plan.value", "protocol.serve.rate.0 must be more than 0"},
		"rate twice": {[]string{"protocol.serve.rate=1,1.0"}, "plan.value", "protocol.serve.rate makes the point r1 twice"},
		"arrival":    {[]string{"protocol.serve.arrival=poison"}, "plan.value", `protocol.serve.arrival "poison" is not known; did you mean "poisson"?`},
		"end":        {[]string{"protocol.serve.duration="}, "plan.missing", "protocol.serve has no end: it needs requests or duration"},
		"window":     {[]string{"protocol.serve.window={warmup: 40s, cooldown: 20s}"}, "plan.value", "protocol.serve.window leaves nothing: warmup and cooldown take 1m of 1m"},
		"burstiness": {[]string{"protocol.serve.burstiness=0.5"}, "plan.value", "protocol.serve.burstiness has a meaning for arrival gamma only"},
		"no shape":   {[]string{"protocol.serve.burstiness=0", "protocol.serve.arrival=gamma"}, "plan.value", "protocol.serve.burstiness must be more than 0"},
		"two urls":   {[]string{"server.urls=http://a,http://b"}, "plan.value", "server has a url and urls"},
		"url twice":  {[]string{"server.url=", "server.urls=http://a,http://a"}, "plan.value", "server.urls.1 stands there twice"},
		"a bad url":  {[]string{"server.url=", "server.urls=http://a,b"}, "plan.value", "server.urls.1 is not a URL with http:// or https:// and a host, nor unix:///path/of/socket"},
		"socket":     {[]string{"server.url=unix://run/x.sock"}, "plan.value", "server.url is not a URL with http:// or https:// and a host, nor unix:///path/of/socket"},
		"behind TLS": {[]string{"server.url=https://h:1", "routers.0={points: all, kind: nginx}"}, "plan.value", "routers.0: a router cannot stand before a server at https://h:1"},
		"no port":    {[]string{"server.url=", "server.urls=http://a:1,http://b", "routers.0={points: all, kind: nginx}"}, "plan.value", "routers.0: a router cannot stand before a server at http://b"},
		"a socket":   {[]string{"server.url=unix:///run/e.sock", "routers.0={points: all, kind: haproxy}"}, "plan.value", "routers.0: a router cannot stand before a server at unix:///run/e.sock"},
		"balance":    {[]string{"client.balance=sticky"}, "plan.value", "client.balance has a meaning with several servers only"},
		"tokens":     {[]string{"server.token_env=A", "server.token_file=/a"}, "plan.value", "server has a token_env and a token_file"},
		"header":     {[]string{`client.headers={"a b": c}`}, "plan.value", `client.headers.a b: "a b" is not the name of a header`},
		"own header": {[]string{"client.headers={host: c}"}, "plan.value", "client.headers.host: the program sets host itself"},
		"key header": {[]string{"client.headers={X-API-Key: c}"}, "plan.secret", "client.headers.X-API-Key looks like a secret, which would stand in every result"},
		"auth":       {[]string{"client.headers={authorization: c}"}, "plan.secret", "client.headers.authorization looks like a secret, which would stand in every result"},
		"header env": {[]string{"client.headers_env={X-API-Key: sk-1}"}, "plan.value", "client.headers_env.X-API-Key is not the name of a variable"},
		"two cases":  {[]string{"client.headers={X-A: c, x-a: d}"}, "plan.value", "client.headers.x-a is the same header as client.headers.X-A"},
		"from env":   {[]string{"client.headers={X-A: c}", "client.headers_env={x-a: D}"}, "plan.value", "client.headers_env.x-a is the same header as client.headers.X-A"},
		"as session": {[]string{"client.headers={X-A: c}", "client.routing_headers=x-a"}, "plan.value", "client.routing_headers.0 is the same header as client.headers.X-A"},
		"two lines":  {[]string{`client.headers={X-A: "1\r\nE: 2"}`}, "plan.value", "client.headers.X-A holds a control character, such as the end of a line"},
		"routing":    {[]string{"client.routing_headers=Content-Length"}, "plan.value", "client.routing_headers.0: the program sets Content-Length itself"},
		"no rate":    {[]string{"protocol.serve={duration: 1m}"}, "plan.missing", "protocol.serve.rate is missing"},
		"speed":      {[]string{"protocol.serve.speed=2"}, "plan.value", "protocol.serve.speed has a meaning for arrival trace only"},
		"replay":     {[]string{"protocol.serve={arrival: trace}"}, "plan.value", "protocol.serve.arrival trace needs workload kind trace; it is synthetic"},
		"trace rate": {[]string{"workload={kind: trace, dataset: {path: a}}", "protocol.serve={arrival: trace, rate: 1}"}, "plan.value", "protocol.serve.rate has no meaning for arrival trace"},
		"trace ramp": {[]string{"workload={kind: trace, dataset: {path: a}}", "protocol.serve={arrival: trace, ramp: {from: 1, over: 1s}}"}, "plan.value", "protocol.serve.ramp has no meaning for arrival trace"},
		"ramp":       {[]string{"protocol.serve.ramp={over: 1s}"}, "plan.value", "protocol.serve.ramp.from must be more than 0"},
		"two":        {[]string{"protocol.sweep.concurrency=1"}, "plan.value", "protocol holds 2 protocols; a plan has exactly one of sweep, serve, matrix"},
		"two again":  {[]string{"protocol.matrix={contexts: 8k, concurrency: 1}"}, "plan.value", "protocol holds 2 protocols; a plan has exactly one of sweep, serve, matrix"},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, endpoint) })
	}
}

func TestLoadRules(t *testing.T) {
	sets := func(s ...string) []string { return s }
	sweep := sets("protocol={sweep: {concurrency: 1, requests: 1}}")
	for name, c := range map[string]rule{
		"contexts":      {sets("protocol.matrix.contexts=0"), "plan.value", "protocol.matrix.contexts.0 is 0; the least is 1"},
		"cells twice":   {sets("protocol.matrix.contexts=8k,8192"), "plan.value", "protocol.matrix.contexts makes the point prefill-8192 twice"},
		"prefill twice": {sets("protocol.matrix.prefill_contexts=8k,8192"), "plan.value", "protocol.matrix.prefill_contexts makes the point prefill-8192 twice"},
		"column twice":  {sets("protocol.matrix.concurrency=1,1"), "plan.value", "protocol.matrix.concurrency makes the point decode-8192x1 twice"},
		"duration":      {sets("protocol.matrix.duration=0"), "plan.value", "protocol.matrix.duration must be more than 0"},
		"max_tokens":    {sets("protocol.matrix.max_tokens=0"), "plan.value", "protocol.matrix.max_tokens is 0; the least is 1"},
		"input_len":     {sets("workload.input_len=8k"), "plan.value", "workload.input_len has no meaning in a matrix: protocol.matrix.contexts says how long prompts are"},
		"kind":          {sets("workload={kind: jsonl, dataset: {path: a}}"), "plan.value", `workload.kind "jsonl" has no prompts of a wanted length: a matrix needs synthetic or text`},
		"trace":         {sets("workload={kind: trace, dataset: {path: a}}"), "plan.value", `workload.kind "trace" has no prompts of a wanted length: a matrix needs synthetic or text`},
		"shared":        {sets("workload.shared_prompts=4"), "plan.value", "workload.shared_prompts has no meaning in a matrix: a cell's streams share its prompt"},
		"shared turns":  {append(sweep, "workload={kind: agentic, dataset: {builtin: b}, shared_prompts: 4}"), "plan.value", "workload.shared_prompts has no meaning for kind agentic: its data says what is shared"},
		"lengths":       {append(sweep, "workload={kind: jsonl, dataset: {path: a}, lengths: words}"), "plan.value", "workload.lengths has no meaning without a wanted length"},
		"lengths word":  {sets("workload.lengths=chars"), "plan.value", `workload.lengths "chars" is not known; known are tokens, words`},
		"stable":        {sets("protocol.matrix.stable=721h"), "plan.value", "protocol.matrix.stable is 721h; the most is 720h, 30 days"},
		"dataset":       {sets("workload.dataset.path=a"), "plan.value", "workload.dataset has no meaning for kind synthetic, whose prompts are made"},
		"both":          {append(sweep, "workload={kind: agentic, dataset: {path: a, builtin: b}}"), "plan.value", "workload.dataset has a path and a builtin"},
		"sha256":        {append(sweep, "workload={kind: jsonl, dataset: {path: a, sha256: ABC}}"), "plan.value", "workload.dataset.sha256 is not 64 hex digits in lower case"},
		"agentic":       {append(sweep, "workload={kind: agentic, dataset: {builtin: b}, input_len: 5}"), "plan.value", "workload.input_len has no meaning for kind agentic: its prompts keep their length"},
		"tool delay":    {sets("workload.tool_delay=true"), "plan.value", "workload.tool_delay has a meaning for kind agentic only"},
		"temperature":   {sets("workload.sampling.temperature=-0.1"), "plan.value", "workload.sampling.temperature is -0.1; the least is 0"},
		"top_p":         {sets("workload.sampling.top_p=1.1"), "plan.value", "workload.sampling.top_p is 1.1; the most is 1"},
		"answer":        {sets("workload.sampling.max_tokens=0"), "plan.value", "workload.sampling.max_tokens is 0; the least is 1"},
		"warm-up":       {sets("protocol={sweep: {concurrency: 1, requests: 1, warmup: {stable: 0.6}}}"), "plan.value", "protocol.sweep.warmup.stable is 0.6; the most is 0.5"},
		"no warm-up":    {sets("protocol={sweep: {concurrency: 1, requests: 1, warmup: {stable: 0}}}"), "plan.value", "protocol.sweep.warmup.stable must be more than 0"},
		"timeout alone": {sets("protocol={sweep: {concurrency: 1, requests: 1, warmup: {timeout: 1m}}}"), "plan.value", "protocol.sweep.warmup.timeout has no meaning without stable"},
		"timeout":       {sets("protocol={sweep: {concurrency: 1, requests: 1, warmup: {stable: 0.1, duration: 10m}}}"), "plan.value", "protocol.sweep.warmup.timeout 10m leaves no time after duration 10m for the load to be stable"},
		"requests":      {sets("protocol={sweep: {concurrency: 1, requests: -1}}"), "plan.value", "protocol.sweep.requests is -1; the least is 0"},
		"min_duration":  {sets("protocol={sweep: {concurrency: 1, duration: 1m, min_duration: 2m}}"), "plan.value", "protocol.sweep.min_duration 2m is longer than duration 1m"},
		"command":       {sets("server.engine=llamacpp"), "plan.missing", "server.command is missing: runtime process needs the program to start"},
		"process":       {sets("server.image=a@" + digest), "plan.value", "server.image has no meaning for runtime process"},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, matrix) })
	}
}

// TestNamesThatAreNoSecrets: what only looks like the name of a secret, and names at their bounds, are taken.
func TestNamesThatAreNoSecrets(t *testing.T) {
	for _, set := range []string{
		"server.env.TOKENIZERS_PARALLELISM=false", "server.env.MAX_TOKENS=1", "server.env.KEYS=1", "server.env.MONKEY=1",
		"server.env_from=HF_TOKEN,A", "name=" + strings.Repeat("ä", 100), "server.stop.grace=720h", "protocol.sweep.concurrency=100000",
	} {
		if _, err := ParseSet([]byte(docker), []string{set}); err != nil {
			t.Errorf("%s: %v", set, err)
		}
	}
}

func TestTooManyPoints(t *testing.T) {
	list := "[" + strings.Repeat("1, ", 200) + "]" // the count is looked at first
	rule{[]string{"protocol.matrix.contexts=" + list, "protocol.matrix.concurrency=" + list}, "plan.value",
		"protocol.matrix makes more than 10000 points"}.check(t, matrix)
}

func TestUnpinnedIsAllowedWhenSaid(t *testing.T) {
	p, err := ParseSet([]byte(docker), []string{"server.image=vllm/vllm-openai:v0.9", "allow_unpinned=true"})
	if err != nil || !p.Unpinned || p.Server.Image != "vllm/vllm-openai:v0.9" {
		t.Errorf("%v, %+v", err, p.Server)
	}
	f := refused(t, docker, "server.image=vllm/vllm-openai:v0.9")
	if !strings.Contains(f.Hint, "assay plan pin") || !strings.Contains(f.Hint, "allow_unpinned") {
		t.Errorf("the hint does not say how to find the digest: %s", f.Hint)
	}
}
