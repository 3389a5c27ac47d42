//! Group orders: of graphs whose groups are known, and of small graphs by trying permutations.

mod families;

use families::*;
use ludex_automorphism::{
    Automorphisms, ColoredGraph, GraphBuilder, Orbits, PermutationGroup, SparsePermutation,
    automorphisms,
};
use ludex_base::{Deadline, Rng, Seed};
use num_bigint::BigUint;

fn group(graph: &ColoredGraph) -> Automorphisms {
    let group = automorphisms(graph, &Deadline::never());
    assert!(group.is_complete);
    assert!(group.generators.iter().all(|generator| graph.is_automorphism(generator)));
    let orbits = Orbits::of(graph.n_vertices(), &group.generators);
    assert_eq!(orbits.to_lists(), group.orbits.to_lists());
    group
}

/// The order by Schreier and Sims, from strong generators and from generators alone.
#[track_caller]
fn check_by_chain(group: &Automorphisms, degree: usize) {
    let strong = PermutationGroup::from_strong_generators(degree, &group.base, &group.generators);
    assert_eq!(strong.order(), group.order);
    let seed = Seed(group.n_nodes);
    let any = PermutationGroup::new(degree, &group.generators, seed, &Deadline::never());
    let any = any.expect("there is no deadline");
    assert_eq!(any.order(), group.order);
    let rng = &mut seed.rng();
    for _ in 0..3 {
        assert!(any.contains(&strong.random(rng)) && strong.contains(&any.random(rng)));
    }
}

/// Checks the order, also of the graph with its vertices in other orders.
#[track_caller]
fn check(sketch: &Sketch, order: impl Into<BigUint>) {
    let order = order.into();
    let first = group(&sketch.graph());
    assert_eq!(first.order, order);
    if first.base.len() < 70 {
        check_by_chain(&first, sketch.colors.len());
    }
    for seed in 0..3 {
        let relabeled = sketch.relabeled(&mut rng(seed));
        assert_eq!(group(&relabeled.graph()).order, order, "relabeled with seed {seed}");
    }
}

fn factorial(n: u32) -> BigUint {
    (1..=n).map(BigUint::from).product()
}

#[test]
fn graphs_without_edges_or_vertices() {
    check(&Sketch::default(), 1_u32);
    check(&Sketch::new(1, []), 1_u32);
    check(&Sketch::new(6, []), factorial(6));
}

#[test]
fn complete_graphs_have_all_permutations() {
    for n in [2, 3, 7, 20] {
        check(&complete(n), factorial(n));
        check(&star(n), factorial(n + u32::from(n == 1)));
    }
    check(&complete_bipartite(3, 5), factorial(3) * factorial(5));
    check(&complete_bipartite(6, 6), 2_u32 * factorial(6) * factorial(6));
}

#[test]
fn cycles_turn_and_reflect() {
    for n in [3, 5, 12, 101] {
        check(&cycle(n), 2 * n);
        check(&path(n), 2_u32);
    }
}

#[test]
fn directions_take_reflections_away() {
    let directed = |n: u32, arcs: &[(u32, u32)]| {
        let mut builder = GraphBuilder::new();
        for _ in 0..n {
            builder.add_vertex(0);
        }
        for &(source, target) in arcs {
            builder.add_arc(source, target);
        }
        group(&builder.build()).order
    };
    for n in [3, 8, 50] {
        let arcs = cycle(n).edges;
        assert_eq!(directed(n, &arcs), n.into());
        let two: Vec<(u32, u32)> = cycle(n).copies(2).edges;
        assert_eq!(directed(2 * n, &two), (2 * n * n).into());
    }
    // Upwards in a cube, the dimensions can still be exchanged.
    assert_eq!(directed(64, &hypercube(6).edges), factorial(6));
    // The tournament of squares modulo a prime that is 3 modulo 4.
    let is_square = |d: u32| (1..23).any(|x| x * x % 23 == d);
    let arcs = (0..23).flat_map(|a| (0..23).map(move |b| (a, b)));
    let arcs: Vec<(u32, u32)> = arcs.filter(|&(a, b)| is_square((b + 23 - a) % 23)).collect();
    assert_eq!(directed(23, &arcs), (23 * 11_u32).into());
}

#[test]
fn cubes_and_grids() {
    for dimension in 1..=7 {
        check(&hypercube(dimension), factorial(dimension) << dimension);
    }
    check(&grid(9, 9), 8_u32);
    check(&grid(4, 9), 4_u32);
    check(&torus(7, 7), 8 * 49_u32);
    check(&torus(5, 8), 4 * 40_u32);
}

#[test]
fn strongly_regular_graphs() {
    check(&petersen(), 120_u32);
    check(&kneser(7), factorial(7));
    check(&kneser(7).complement(), factorial(7));
    check(&rook(4), 1152_u32);
    check(&shrikhande(), 192_u32);
    check(&rook(6), 2_u32 * factorial(6) * factorial(6));
    for prime in [13, 17, 29, 37] {
        check(&paley(prime), prime * (prime - 1) / 2);
    }
}

#[test]
fn projective_planes_with_their_dualities() {
    // |PΓL(3, q)| = e q³ (q³ - 1) (q² - 1) for q = p^e, and twice that with points and lines
    // exchanged.
    for (q, e) in [(2, 1), (3, 1), (4, 2), (5, 1)] {
        let q3: u32 = q * q * q;
        check(&projective_plane(Field(q)), 2 * e * q3 * (q3 - 1) * (q * q - 1));
    }
}

#[test]
fn copies_are_exchanged_as_a_whole() {
    check(&cycle(5).copies(7), factorial(7) * 10_u32.pow(7));
    check(&petersen().copies(4), factorial(4) * 120_u32.pow(4));
    check(&complete(4).copies(30), factorial(30) * BigUint::from(24_u32).pow(30));
    check(&path(6).beside(&cycle(6)).beside(&path(6)), 8 * 12_u32);
    check(&cycle(6).beside(&cycle(3).copies(2)), 12 * 72_u32);
}

#[test]
fn colors_take_symmetries_away() {
    check(&cycle(8).colored(0, 1), 2_u32);
    check(&cycle(8).colored(0, 1).colored(3, 1), 2_u32);
    check(&cycle(8).colored(0, 1).colored(3, 2), 1_u32);
    check(&petersen().colored(0, 9), 12_u32);
    check(&hypercube(5).colored(7, 1), factorial(5));
    check(&complete(9).colored(0, 3).colored(4, 3), 2_u32 * factorial(7));
}

#[test]
fn cfi_graphs_have_a_sign_for_each_independent_cycle() {
    // Every cycle of the base graph can be flipped: 2^(edges - vertices + 1), as colors keep
    // vertices and edges apart.
    for base in [complete(4), petersen(), torus(4, 4), cycle(7), hypercube(4)] {
        let n_cycles = base.edges.len() as u32 - base.n_vertices() + 1;
        for is_twisted in [false, true] {
            check(&cfi(&base, is_twisted), BigUint::from(2_u32).pow(n_cycles));
        }
    }
}

#[test]
fn the_two_cfi_graphs_of_a_base_are_not_exchanged() {
    let base = torus(3, 4);
    let [plain, twisted] = [false, true].map(|is_twisted| cfi(&base, is_twisted));
    let n_cycles = base.edges.len() as u32 - base.n_vertices() + 1;
    let one = BigUint::from(2_u32).pow(n_cycles);
    check(&plain.clone().beside(&twisted), &one * &one);
    check(&plain.copies(2), 2_u32 * &one * &one);
}

#[test]
fn trees_of_any_shape() {
    for seed in 0..40 {
        let tree = random_tree(300, &mut rng(seed));
        check(&tree, tree_order(&tree));
    }
}

/// The order of a tree's group: of the tree as hung up at its center, bottom up.
fn tree_order(tree: &Sketch) -> BigUint {
    let graph = tree.graph();
    let farthest = |from: u32| {
        let mut order = vec![(from, from)];
        let mut place = 0;
        while let Some(&(v, parent)) = order.get(place) {
            order.extend(graph.neighbors(v).iter().filter(|&&w| w != parent).map(|&w| (w, v)));
            place += 1;
        }
        order
    };
    let first = farthest(0).last().expect("a tree has a vertex").0;
    let order = farthest(first);
    let mut longest = vec![order.last().expect("a tree has a vertex").0];
    while *longest.last().expect("not empty") != first {
        let v = *longest.last().expect("not empty");
        longest.push(order.iter().find(|pair| pair.0 == v).expect("is reached").1);
    }
    let middle = longest.len() / 2;
    if longest.len() % 2 == 1 {
        return hung_order(&graph, longest[middle], u32::MAX).1;
    }
    let (a, b) = (longest[middle - 1], longest[middle]);
    let (shape_a, order_a) = hung_order(&graph, a, b);
    let (shape_b, order_b) = hung_order(&graph, b, a);
    order_a * order_b * if shape_a == shape_b { 2_u32 } else { 1 }
}

/// The shape of a subtree in brackets, and its order.
fn hung_order(graph: &ColoredGraph, v: u32, parent: u32) -> (String, BigUint) {
    let below = graph.neighbors(v).iter().filter(|&&w| w != parent);
    let mut below: Vec<(String, BigUint)> = below.map(|&w| hung_order(graph, w, v)).collect();
    below.sort();
    let mut order = BigUint::from(1_u32);
    let mut n_equal = 0_u32;
    for (place, (shape, own)) in below.iter().enumerate() {
        n_equal = if place > 0 && below[place - 1].0 == *shape { n_equal + 1 } else { 1 };
        order *= own * n_equal;
    }
    let shapes: String = below.into_iter().map(|(shape, _)| shape).collect();
    (format!("({shapes})"), order)
}

#[test]
fn random_graphs_are_mostly_rigid() {
    let n_rigid = (0..20)
        .filter(|&seed| {
            let graph = random_graph(100, 2000, &mut rng(seed)).graph();
            group(&graph).order == 1_u32.into()
        })
        .count();
    assert_eq!(n_rigid, 20);
}

#[test]
fn small_graphs_against_all_permutations() {
    for seed in 0..500 {
        let mut rng = rng(seed);
        let graph = small_graph(&mut rng);
        let (order, orbits) = by_trying(&graph);
        let group = group(&graph);
        assert_eq!(group.order, order.into(), "{graph:?}");
        check_by_chain(&group, graph.n_vertices());
        assert_eq!(group.orbits.to_lists(), orbits.to_lists(), "{graph:?}");
    }
}

/// Up to 7 vertices; a third of the graphs have colors, a third directions, a third loops.
fn small_graph(rng: &mut Rng) -> ColoredGraph {
    let n = 1 + rng.below(7) as u32;
    let [n_colors, has_directions, has_loops] = [0, 1, 2].map(|_| usize::from(rng.below(3) == 0));
    let mut builder = GraphBuilder::new();
    for _ in 0..n {
        builder.add_vertex(rng.below(1 + n_colors) as u32);
    }
    let density = 1 + rng.below(9);
    for (a, b) in pairs(n) {
        if rng.below(10) < density {
            if has_directions == 1 {
                let (a, b) = if rng.below(2) == 0 { (a, b) } else { (b, a) };
                builder.add_arc(a, b);
            } else {
                builder.add_edge(a, b);
            }
        }
    }
    for v in 0..n {
        if has_loops == 1 && rng.below(3) == 0 {
            builder.add_edge(v, v);
        }
    }
    builder.build()
}

/// The order and the orbits, by going through all permutations.
fn by_trying(graph: &ColoredGraph) -> (u32, Orbits) {
    let n = graph.n_vertices();
    let mut images: Vec<u32> = (0..n as u32).collect();
    let mut found = Vec::new();
    permute(&mut images, 0, &mut |images| {
        let image = |v: u32| images[v as usize];
        let keeps_colors = (0..n).all(|v| graph.colors()[v] == graph.colors()[images[v] as usize]);
        let mut arcs = (0..n as u32).flat_map(|a| (0..n as u32).map(move |b| (a, b)));
        if keeps_colors
            && arcs.all(|(a, b)| graph.has_arc(a, b) == graph.has_arc(image(a), image(b)))
        {
            found.push(SparsePermutation::from_images(images).expect("is one"));
        }
    });
    (found.len() as u32, Orbits::of(n, &found))
}

fn permute(images: &mut Vec<u32>, place: usize, visit: &mut impl FnMut(&[u32])) {
    if place == images.len() {
        return visit(images);
    }
    for other in place..images.len() {
        images.swap(place, other);
        permute(images, place + 1, visit);
        images.swap(place, other);
    }
}

#[test]
fn other_orders_of_vertices_have_the_same_group() {
    for seed in 0..60 {
        let rng = &mut rng(seed);
        let n = 10 + rng.below(60) as u32;
        let sketch = match seed % 4 {
            0 => random_graph(n, n as usize, rng),
            1 => random_regular(n / 2 * 2, 3, rng).copies(2),
            2 => circuit(5 * n, rng),
            _ => repeated_circuit(3, n, rng),
        };
        let first = group(&sketch.graph());
        for _ in 0..3 {
            let other = group(&sketch.relabeled(rng).graph());
            assert_eq!(other.order, first.order);
            assert_eq!(other.orbits.n_orbits(), first.orbits.n_orbits());
        }
    }
}

#[test]
fn without_time_the_order_is_a_lower_bound() {
    let graph = hypercube(12).graph();
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let group = automorphisms(&graph, &Deadline::never().or_when(flag));
    assert!(!group.is_complete);
    assert!(group.order >= 1_u32.into());
    assert!(group.generators.iter().all(|generator| graph.is_automorphism(generator)));
}

#[test]
fn stabilizers_keep_their_points() {
    let found = group(&petersen().graph());
    let group = PermutationGroup::from_strong_generators(10, &found.base, &found.generators);
    let never = Deadline::never();
    let mut order = BigUint::from(120_u32);
    let mut kept = Vec::new();
    let mut stabilizer = group.clone();
    for point in [3, 7, 1] {
        order /= stabilizer.orbits().size(point);
        kept.push(point);
        stabilizer = group.stabilizer(&kept, Seed(1), &never).expect("there is no deadline");
        assert_eq!(stabilizer.order(), order);
        for generator in stabilizer.generators() {
            assert!(kept.iter().all(|&point| generator.image(point) == point));
            assert!(group.contains(&generator));
        }
    }
}

#[test]
fn an_element_takes_a_point_to_each_of_its_orbit() {
    let graph = random_tree(200, &mut rng(3)).graph();
    let found = group(&graph);
    let group = PermutationGroup::from_strong_generators(200, &found.base, &found.generators);
    for (from, to) in pairs(200) {
        match group.element_that_takes(from, to) {
            Some(element) => {
                assert_eq!(element.image(from), to);
                assert!(graph.is_automorphism(&element) && group.contains(&element));
            }
            None => assert!(!found.orbits.same(from, to)),
        }
    }
}

#[test]
fn random_elements_are_even() {
    let found = group(&cycle(4).graph());
    let group = PermutationGroup::from_strong_generators(4, &found.base, &found.generators);
    let mut counts = std::collections::BTreeMap::new();
    let rng = &mut rng(5);
    for _ in 0..8000 {
        *counts.entry(group.random(rng)).or_insert(0_u32) += 1;
    }
    assert_eq!(counts.len(), 8);
    // Chi-square with 7 degrees of freedom: 24.3 is passed once in a thousand.
    let chi2: f64 = counts.values().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi2 < 24.3, "{counts:?}");
}
