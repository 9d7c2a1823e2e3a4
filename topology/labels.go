// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A LabelledNode is a Kubernetes node as plain values: its name, its labels, and its capacity, which is not in the labels.
// A LabelledNode may be read by many goroutines while nobody changes it.
type LabelledNode struct {
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels,omitempty"`
	CPUMilli  int64             `json:"cpuMilli,omitempty"`
	MemoryMiB int64             `json:"memoryMiB,omitempty"`
}

// A LevelRule says which labels name the domain of a node at one level.
// A LevelRule may be read by many goroutines while nobody changes it.
type LevelRule struct {
	Level Level    `json:"level"`
	Keys  []string `json:"keys"` // the first key that the node carries with a value counts; none: the node lacks the level
	// Unique says that one value is one piece of hardware wherever it appears. A value seen in two parents is then a
	// mistake (the levels are in the wrong order for this site) and not two domains.
	Unique bool `json:"unique,omitempty"`
}

// A FamilyRule reads an overlay family. A FamilyRule may be read by many goroutines while nobody changes it.
type FamilyRule struct {
	Name   Family      `json:"name"`
	Levels []LevelRule `json:"levels"` // coarse to fine
}

// LabelRules say how to read node labels. They are plain data: start from one of the Rules functions and change what
// differs at your site. A LabelRules may be read by many goroutines while nobody changes it.
type LabelRules struct {
	Levels   []LevelRule       `json:"levels,omitempty"`   // primary family, coarse to fine
	Families []FamilyRule      `json:"families,omitempty"` // overlays
	Products map[string]string `json:"products,omitempty"` // nvidia.com/gpu.product → model name, before the built-in table
	Models   []GPUModel        `json:"models,omitempty"`   // models of your own that Products may name
	// AllowUnknownProducts makes a model of a product that no table knows, named after it, with the memory of its label, in which
	// all nodes that carry it must agree. Without it such a product is a mistake.
	AllowUnknownProducts bool `json:"allowUnknownProducts,omitempty"`
	// Keep lists the labels that nodes keep; nil keeps all.
	Keep []string `json:"keep,omitempty"`
}

// Labels of NVIDIA GPU Feature Discovery (k8s-device-plugin, docs/gpu-feature-discovery, v0.17). The names with
// "cuda.driver." and "cuda.runtime." are deprecated there and still read here.
const (
	labelProduct = "nvidia.com/gpu.product"
	labelCount   = "nvidia.com/gpu.count"
	labelMemory  = "nvidia.com/gpu.memory"
	labelClique  = "nvidia.com/gpu.clique" // <ClusterUUID>.<CliqueID> of the NVLink fabric
)

// FromLabels makes a [Config] of labelled nodes: places by the rules, GPUs by the labels of NVIDIA GPU Feature Discovery.
// A node without nvidia.com/gpu.product has no GPUs. A model whose NVLink domain is no bridge and holds all GPUs of the node
// is taken to join them; nothing else about the inside of a node is in the labels. The first 100 mistakes are reported, each
// naming node, key and value.
//
// Possible errors: [ErrInvalid], [ErrUnknown], [ErrDuplicate], [ErrConflict].
func FromLabels(nodes []LabelledNode, rules LabelRules) (Config, error) {
	r := labelReader{mistakes: mistakes{max: readerErrors}, rules: rules, models: map[string]GPUModel{},
		made: map[string]*madeModel{}, shapes: map[string]bool{}, parents: map[string]string{}}
	if !r.begin() {
		return Config{}, r.err()
	}
	seen := map[string]int{}
	for i, n := range nodes {
		field := fmt.Sprintf("nodes[%d] %s", i, n.Name)
		if first, twice := seen[n.Name]; twice {
			r.add(ErrDuplicate, field+".name", n.Name, fmt.Sprintf("nodes[%d] has this name; give each node once", first))
			continue
		}
		seen[n.Name] = i
		r.node(n, field)
	}
	if r.any() {
		return Config{}, r.err()
	}
	return r.cfg, nil
}

type labelReader struct {
	mistakes
	rules   LabelRules
	cfg     Config
	models  map[string]GPUModel // of the rules, and made of unknown products
	made    map[string]*madeModel
	shapes  map[string]bool
	parents map[string]string // level and value of a unique rule → path of its parent
}

// madeModel is the model of a product that no table knows.
type madeModel struct {
	at     int    // its place in Config.Models
	memory string // the node that said how much memory it has
}

// begin turns the rules into levels and models, and judges them. It is false when there are too many levels to go on with.
func (r *labelReader) begin() bool {
	r.cfg.Levels = []Level{}
	for _, l := range r.rules.Levels {
		r.cfg.Levels = append(r.cfg.Levels, l.Level)
		if slices.Contains(innerLevels(), l.Level) {
			r.add(ErrInvalid, "levels", string(l.Level), "rules are for levels above the node; a node is named by its name")
		}
	}
	for _, f := range r.rules.Families {
		spec := FamilySpec{Name: f.Name}
		for _, l := range f.Levels {
			spec.Levels = append(spec.Levels, l.Level)
		}
		r.cfg.Families = append(r.cfg.Families, spec)
	}
	if newLayout(r.cfg.Levels, r.cfg.Families, &r.mistakes) == nil {
		return false
	}
	for i, g := range r.rules.Models {
		field := fmt.Sprintf("models[%d]", i)
		g.check(field, &r.mistakes)
		known, twice := r.models[g.Name]
		if !twice {
			known, twice = ModelByName(g.Name)
		}
		if twice {
			if known != g {
				r.add(ErrConflict, field+".name", g.Name, "a model of this name is known and differs; give yours another name")
			}
			continue
		}
		r.models[g.Name] = g
		r.cfg.Models = append(r.cfg.Models, g)
	}
	for _, product := range slices.Sorted(maps.Keys(r.rules.Products)) {
		name := r.rules.Products[product]
		if _, ok := r.models[name]; ok {
			continue
		}
		if _, ok := ModelByName(name); !ok {
			r.add(ErrUnknown, "products."+product, name, "use a name of Models() or declare it in LabelRules.Models")
		}
	}
	return true
}

func (r *labelReader) node(n LabelledNode, field string) {
	if !validName(n.Name) {
		r.add(ErrInvalid, field+".name", n.Name, nameHint)
	}
	if n.CPUMilli < 0 || n.MemoryMiB < 0 {
		r.add(ErrInvalid, field+".cpuMilli, memoryMiB", fmt.Sprintf("%d, %d", n.CPUMilli, n.MemoryMiB), "use 0 or more")
	}
	spec := NodeSpec{ID: NodeID(n.Name), Path: map[Level]string{}}
	r.path(n, r.rules.Levels, spec.Path, field)
	for _, f := range r.rules.Families {
		r.path(n, f.Levels, spec.Path, field)
	}
	if len(spec.Path) == 0 {
		spec.Path = nil
	}
	spec.Driver = version(n.Labels, "nvidia.com/cuda.driver-version.full", "nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor", "nvidia.com/cuda.driver.rev")
	spec.CUDA = version(n.Labels, "nvidia.com/cuda.runtime-version.full", "nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor")
	spec.Labels = r.keep(n.Labels, field)
	model, gpus, ok := r.gpus(n, field)
	if !ok {
		return
	}
	shape := ShapeSpec{Name: plainShapeName(model.Name, gpus, n.CPUMilli, n.MemoryMiB), Model: model.Name, GPUs: gpus, CPUMilli: n.CPUMilli, MemoryMiB: n.MemoryMiB}
	if gpus > 1 && model.NVLinkDomain >= gpus && !model.NVLinkBridge {
		shape.NVSwitch = make([]int, gpus)
	}
	if !validName(shape.Name) {
		r.add(ErrInvalid, field+"."+labelProduct, n.Labels[labelProduct],
			fmt.Sprintf("the shape %q, named after it, would pass %d bytes; map the product to a model with a shorter name", cut(shape.Name, valueShown), MaxNameBytes))
		return
	}
	spec.Shape = shape.Name
	if !r.shapes[shape.Name] {
		r.shapes[shape.Name] = true
		r.cfg.Shapes = append(r.cfg.Shapes, shape)
	}
	r.cfg.Nodes = append(r.cfg.Nodes, spec)
}

func (r *labelReader) path(n LabelledNode, rules []LevelRule, path map[Level]string, field string) {
	parent := ""
	for _, rule := range rules {
		key, value := "", ""
		for _, k := range rule.Keys {
			if v := n.Labels[k]; v != "" && !(k == labelClique && noFabric(v)) {
				key, value = k, v
				break
			}
		}
		if key == "" {
			continue
		}
		if !validName(value) {
			r.add(ErrInvalid, field+"."+key, value, nameHint)
			continue
		}
		path[rule.Level] = value
		if rule.Unique {
			id := string(rule.Level) + "\x00" + value
			if first, ok := r.parents[id]; !ok {
				r.parents[id] = parent
			} else if first != parent {
				r.add(ErrConflict, field+"."+key, value, fmt.Sprintf("the domain is seen below %q and below %q; put its rule before the levels that it spans, or clear Unique", first, parent))
			}
		}
		parent = strings.TrimPrefix(parent+"/"+value, "/")
	}
}

// noFabric recognises the clique of a GPU that is in no multi-node NVLink fabric: an all-zero cluster UUID.
func noFabric(clique string) bool {
	uuid, _, _ := strings.Cut(clique, ".")
	return strings.Trim(uuid, "0-") == ""
}

func (r *labelReader) keep(all map[string]string, field string) map[string]string {
	out := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if r.rules.Keep != nil && !slices.Contains(r.rules.Keep, key) {
			continue
		}
		if key == "" || !validText(key) || !validText(all[key]) {
			r.add(ErrInvalid, field+"."+key, all[key], "use UTF-8 text without control characters, and a key")
			continue
		}
		out[key] = all[key]
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// gpus reads model and number; false after a mistake.
func (r *labelReader) gpus(n LabelledNode, field string) (GPUModel, int, bool) {
	before := r.count()
	product := strings.TrimSuffix(n.Labels[labelProduct], "-SHARED") // added by the device plugin under time-slicing
	if product == "" {
		return GPUModel{}, 0, true
	}
	if strings.Contains(product, "-MIG-") {
		r.add(ErrInvalid, field+"."+labelProduct, product, "under the MIG strategy single the labels count slices, not GPUs; use the strategy mixed or none while importing")
		return GPUModel{}, 0, false
	}
	gpus := r.number(n.Labels, labelCount, 1, MaxGPUsPerNode, field)
	model, known := r.model(product)
	if !known {
		if !r.rules.AllowUnknownProducts {
			r.add(ErrUnknown, field+"."+labelProduct, product, "map the product to a model in LabelRules.Products, or set AllowUnknownProducts")
			return GPUModel{}, 0, false
		}
		model = GPUModel{Name: product, Source: "node label " + labelProduct}
		if !validName(product) {
			r.add(ErrInvalid, field+"."+labelProduct, product, nameHint)
			return GPUModel{}, 0, false
		}
		r.made[product] = &madeModel{at: len(r.cfg.Models)}
		r.models[product] = model
		r.cfg.Models = append(r.cfg.Models, model)
	}
	if made := r.made[product]; made != nil && n.Labels[labelMemory] != "" {
		r.memory(made, r.number(n.Labels, labelMemory, 0, 1<<40, field), n, field)
	}
	return model, int(gpus), r.count() == before
}

// memory gives a made model what one node says of its memory; 0 says nothing. Nodes must agree, so that their order does not matter.
func (r *labelReader) memory(made *madeModel, mib int64, n LabelledNode, field string) {
	switch model := &r.cfg.Models[made.at]; {
	case mib <= 0 || mib == model.MemoryMiB:
	case model.MemoryMiB == 0:
		model.MemoryMiB, made.memory = mib, field
	default:
		r.add(ErrConflict, field+"."+labelMemory, n.Labels[labelMemory],
			fmt.Sprintf("%s has %d MiB under the same product; declare the product in LabelRules.Models with the memory that counts", made.memory, model.MemoryMiB))
	}
}

// model finds a product in the rules, among models already made, and in the built-in table.
func (r *labelReader) model(product string) (GPUModel, bool) {
	name, ok := r.rules.Products[product]
	if !ok {
		name, ok = productModel(product)
	}
	if !ok {
		name = product
	}
	if g, ok := r.models[name]; ok {
		return g, true
	}
	return ModelByName(name)
}

func (r *labelReader) number(labels map[string]string, key string, low, high int64, field string) int64 {
	n, err := strconv.ParseInt(labels[key], 10, 64)
	if err != nil || n < low || n > high {
		r.add(ErrInvalid, field+"."+key, labels[key], fmt.Sprintf("use a whole number from %d to %d", low, high))
	}
	return n
}

// version gives the full label, or joins the parts that are there.
func version(labels map[string]string, full string, parts ...string) string {
	if v := labels[full]; v != "" {
		return v
	}
	var out []string
	for _, p := range parts {
		if labels[p] == "" {
			break
		}
		out = append(out, labels[p])
	}
	return strings.Join(out, ".")
}
