//! A specification of Gluepot's commit protocol, explored completely.
//!
//!     commit-model small|large        visit all states of all scenarios, with bounds of that size
//!     commit-model only NAME [FAULTS [INTERRUPTIONS]]
//!     commit-model wrong              find a trace that refutes each wrong version
//!     commit-model accept < LOG       check a log of the real code, one JSON object a line

mod compactor;
mod driver;
mod log;
mod rules;
mod scenario;
mod scenarios;
mod storage;
mod world;

use scenario::Scenario;
use stateright::{Checker, HasDiscoveries, Model};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ok = match arguments.first().map(String::as_str) {
        Some("small") => scenarios::small().into_iter().map(explore).fold(true, |all, one| all & one),
        Some("large") => scenarios::large().into_iter().map(explore).fold(true, |all, one| all & one),
        Some("only") => {
            let mut one =
                scenarios::large().into_iter().find(|one| one.name == arguments[1]).expect("no such scenario");
            one.faults = arguments.get(2).map_or(one.faults, |text| text.parse().unwrap());
            one.switches = arguments.get(3).map_or(one.switches, |text| text.parse().unwrap());
            explore(one)
        }
        Some("wrong") => scenarios::wrong().into_iter().map(refute).fold(true, |all, one| all & one),
        Some("accept") => log::accept_all(std::io::stdin().lines()),
        _ => {
            eprintln!("commit-model small | large | wrong | accept < LOG");
            return ExitCode::from(2);
        }
    };
    if ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Visit every state of a scenario; print how many there are, and a trace to each violation.
fn explore(scenario: Scenario) -> bool {
    let begun = Instant::now();
    let name = scenario.name;
    let bounds = scenarios::bounds(&scenario);
    let checker = scenario.checker().threads(1).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let (model, found) = (checker.model(), checker.discoveries());
    println!(
        "{name}: {} states, longest path {}, {:.1} s ({bounds})",
        checker.unique_state_count(),
        checker.max_depth(),
        begun.elapsed().as_secs_f64()
    );
    for (property, path) in &found {
        println!("  VIOLATED: {property}");
        let steps = path.clone().into_vec();
        for (world, action) in &steps {
            if let Some(action) = action {
                println!("    {}", world.describe(model, *action));
            }
        }
        if let Some((world, _)) = steps.last() {
            println!("    now: {:?}", world.storage);
        }
    }
    found.is_empty()
}

/// Look for the shortest trace on which a wrong version breaks a property.
fn refute(scenario: Scenario) -> bool {
    let (name, wrong) = (scenario.name, scenario.wrong.expect("a wrong version"));
    let checker = scenario.checker().threads(1).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    match checker.discoveries().into_iter().next() {
        Some((property, path)) => {
            println!("{wrong:?} ({name}): after {} steps it is not true that {property}", path.into_actions().len());
            true
        }
        None => {
            println!("{wrong:?} ({name}): NOT REFUTED in {} states", checker.unique_state_count());
            false
        }
    }
}
