//! Which iteration belongs to which task. Tasks and iterations count from 1, iterations over all tasks.

use super::Settings;

impl Settings {
    /// The number of iterations of a task.
    pub fn iterations_of(&self, task: usize) -> u64 {
        let listed = self.task_iterations.as_ref().and_then(|listed| listed.get(task.wrapping_sub(1)));
        listed.copied().unwrap_or(self.iterations)
    }

    /// The last iteration of a task; 0 for task 0, which there is not. The task that a control holds lasts until the next one would end.
    pub fn end_of(&self, task: usize) -> u64 {
        match self.hold {
            Some(last) if task >= last => self.planned_end(last + 1),
            _ => self.planned_end(task),
        }
    }

    /// The iteration after which a control has no switch.
    pub fn held_from(&self) -> Option<u64> {
        self.hold.map(|last| self.planned_end(last))
    }

    /// The last iteration of a task where nothing is held.
    fn planned_end(&self, task: usize) -> u64 {
        match &self.task_iterations {
            None => self.iterations.saturating_mul(task as u64),
            Some(_) => (1..=task).fold(0, |sum: u64, task| sum.saturating_add(self.iterations_of(task))),
        }
    }

    /// The task that an iteration belongs to.
    pub fn task_of(&self, iteration: u64) -> usize {
        let mut task = match &self.task_iterations {
            None => ((iteration - 1) / self.iterations) as usize + 1,
            Some(_) => 1,
        };
        task = self.hold.map_or(task, |last| task.min(last));
        while iteration > self.end_of(task) {
            task += 1;
        }
        task
    }

    /// Iterations of the present task that are done when this one begins.
    pub fn since_switch(&self, iteration: u64) -> u64 {
        iteration - 1 - self.end_of(self.task_of(iteration) - 1)
    }

    /// Whether the model is evaluated after this iteration, wherever it is in its task.
    pub fn evaluates(&self, iteration: u64) -> bool {
        match self.eval_schedule {
            None => iteration.is_multiple_of(self.eval_every),
            Some([dense, every]) => {
                // A control is evaluated where its run is: dense from where its switch would be.
                let held = self.held_from().filter(|from| iteration > *from);
                let since = held.map_or_else(|| self.since_switch(iteration), |from| iteration - 1 - from);
                since < dense || iteration.is_multiple_of(every)
            }
        }
    }

    /// How the curves are sampled, if not after every iteration.
    pub fn sampling(&self) -> Option<String> {
        match (self.eval_schedule, self.eval_every) {
            (None, 1) | (Some([_, 1]), _) => None,
            (None, every) => Some(format!("ρ = {every}")),
            (Some([dense, every]), _) => Some(format!("ρ = 1 for {dense}, then {every}")),
        }
    }

    /// The probability that an example of this iteration's batch is drawn as in the present task, and not as in the task
    /// before: 1 without a drift.
    pub fn arrived(&self, iteration: u64) -> f64 {
        match self.drift {
            None => 1.0,
            Some(length) => ((self.since_switch(iteration) + 1) as f64 / (length + 1) as f64).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::Experiment;

    #[test]
    fn tasks_of_one_length_and_of_several_have_their_iterations() {
        let mut settings = Experiment::named("split-mnist").unwrap().settings;
        assert_eq!([1, 200, 201, 1000].map(|i| settings.task_of(i)), [1, 1, 2, 5]);
        assert_eq!(
            (settings.end_of(5), settings.since_switch(201), settings.since_switch(400)),
            (1000, 0, 199)
        );
        settings.task_iterations = Some(vec![3, 1, 2]);
        assert_eq!([1, 3, 4, 5, 6].map(|i| settings.task_of(i)), [1, 1, 2, 3, 3]);
        assert_eq!([0, 1, 2, 3].map(|task| settings.end_of(task)), [0, 3, 4, 6]);
        assert_eq!((settings.iterations_of(2), settings.since_switch(6)), (1, 1));
        settings.task_iterations = None;
        settings.iterations = u64::MAX;
        assert_eq!(settings.task_of(1_000_000_000), 1);
    }

    #[test]
    fn a_schedule_is_dense_after_each_switch_and_says_so() {
        let mut settings = Experiment::named("split-mnist").unwrap().settings;
        assert_eq!((settings.evaluates(7), settings.sampling()), (true, None));
        settings.eval_every = 10;
        assert_eq!((settings.evaluates(7), settings.evaluates(20)), (false, true));
        assert_eq!(settings.sampling().unwrap(), "ρ = 10");
        settings.eval_every = 1;
        settings.eval_schedule = Some([3, 10]);
        let evaluated: Vec<u64> = (195..=225).filter(|i| settings.evaluates(*i)).collect();
        assert_eq!(evaluated, [200, 201, 202, 203, 210, 220]);
        assert_eq!(settings.sampling().unwrap(), "ρ = 1 for 3, then 10");
        settings.hold = Some(1);
        let of_control: Vec<u64> = (195..=225).filter(|i| settings.evaluates(*i)).collect();
        assert_eq!(of_control, evaluated);
    }

    #[test]
    fn a_control_stays_in_its_task_for_as_long_as_the_next_would_last() {
        let mut settings = Experiment::named("split-mnist").unwrap().settings;
        settings.hold = Some(2);
        assert_eq!([200, 201, 400, 401, 600].map(|i| settings.task_of(i)), [1, 2, 2, 2, 2]);
        assert_eq!([1, 2, 3, 5].map(|task| settings.end_of(task)), [200, 600, 600, 600]);
        assert_eq!((settings.held_from(), settings.since_switch(600)), (Some(400), 399));
        settings.task_iterations = Some(vec![3, 1, 2]);
        settings.hold = Some(1);
        assert_eq!([3, 4].map(|i| settings.task_of(i)), [1, 1]);
        assert_eq!((settings.end_of(3), settings.held_from()), (4, Some(3)));
        settings.hold = None;
        assert_eq!((settings.end_of(3), settings.held_from()), (6, None));
    }

    #[test]
    fn a_drift_arrives_after_its_length() {
        let mut settings = Experiment::named("split-mnist").unwrap().settings;
        assert_eq!((settings.arrived(1), settings.arrived(201)), (1.0, 1.0));
        settings.drift = Some(3);
        assert_eq!([201, 202, 203, 204, 400].map(|i| settings.arrived(i)), [0.25, 0.5, 0.75, 1.0, 1.0]);
    }
}
