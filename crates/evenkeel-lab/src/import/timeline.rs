//! When a run was evaluated, and in which task.

use std::collections::BTreeMap;

use super::{LoggedRun, Series};

/// What the user says about time; a log knows the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// Updates of each task; one number is the length of all.
    pub task_iterations: Vec<u64>,
    /// Updates between two evaluations, for logs that only count evaluations.
    pub every: Option<u64>,
    /// What is added to each step: 1 where a program counts its updates from 0.
    pub offset: u64,
}

/// When in a task an evaluation was made, as far as a log tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At iterations: so many evaluations of the task were made before it. Avalanche makes the first one after the first update.
    Iterations(u64),
    /// After so many epochs of so many.
    Epochs(u64, u64),
    /// At its end.
    End,
}

impl Timeline {
    /// Iteration and task of each of these steps.
    pub fn place(
        &self,
        run: &LoggedRun,
        steps: &[u64],
        task: Option<&Series>,
    ) -> Result<BTreeMap<u64, (u64, usize)>, String> {
        match (&run.counted, task) {
            (Some(counted), _) => self.place_counted(counted, steps),
            (None, _) if self.every.is_some() => {
                Err("--every is for logs that only count evaluations; this one has steps".to_string())
            }
            (None, Some(task)) => self.place_by_series(steps, task),
            (None, None) if self.task_iterations.is_empty() => {
                Err("when did the tasks begin? Say it with --task-iterations (updates of a task, or of each), or with --task \
                     (the series of the task in training)"
                    .to_string())
            }
            (None, None) => {
                steps.iter().map(|&step| Ok((step, self.place_by_length(step)?))).collect::<Result<_, _>>()
            }
        }
    }

    /// Updates of task `k`, from 1.
    fn length(&self, task: usize) -> Result<Option<u64>, String> {
        match &self.task_iterations[..] {
            [] => Ok(None),
            [all] => Ok(Some(*all)),
            each => each.get(task - 1).copied().map(Some).ok_or_else(|| {
                format!("--task-iterations has {} tasks, the log goes on in task {task}", each.len())
            }),
        }
    }

    fn place_by_length(&self, step: u64) -> Result<(u64, usize), String> {
        let iteration = step.checked_add(self.offset).ok_or("a step is too large")?;
        if let [all] = self.task_iterations[..] {
            return Ok((iteration, (iteration.saturating_sub(1) / all) as usize + 1));
        }
        let (mut task, mut end) = (1, 0);
        loop {
            end += self.length(task)?.expect("lengths are given");
            if iteration <= end {
                return Ok((iteration, task));
            }
            task += 1;
        }
    }

    /// The task is the last that was logged until then; the lowest that was ever logged is task 1.
    fn place_by_series(&self, steps: &[u64], task: &Series) -> Result<BTreeMap<u64, (u64, usize)>, String> {
        let lowest = task.values().copied().fold(f64::INFINITY, f64::min);
        let number = |value: f64| {
            let number = value - lowest;
            (value.fract() == 0.0 && number < 1e6)
                .then_some(number as usize + 1)
                .ok_or_else(|| format!("the task is {value} at a step; tasks are whole numbers"))
        };
        steps
            .iter()
            .map(|&step| {
                let known = task.range(..=step).next_back().or_else(|| task.iter().next());
                let task = number(*known.ok_or("the series of the task has no values")?.1)?;
                let iteration = step.checked_add(self.offset).ok_or("a step is too large")?;
                Ok((step, (iteration, task)))
            })
            .collect()
    }

    fn place_counted(
        &self,
        counted: &BTreeMap<u64, (usize, When)>,
        steps: &[u64],
    ) -> Result<BTreeMap<u64, (u64, usize)>, String> {
        let mut of_task: BTreeMap<usize, Vec<(u64, When)>> = BTreeMap::new();
        for step in steps {
            let (task, when) = counted.get(step).expect("every step was counted");
            of_task.entry(*task).or_default().push((*step, *when));
        }
        let mut placed = BTreeMap::new();
        let mut start = self.offset;
        for (task, evaluations) in of_task {
            let (length, every) = self.measures(task, &evaluations)?;
            let at = |when| match when {
                When::Iterations(before) => (1 + before * every).min(length),
                When::Epochs(done, all) => length * done / all,
                When::End => length,
            };
            placed.extend(evaluations.iter().map(|(step, when)| (*step, (start + at(*when), task))));
            start += length;
        }
        Ok(placed)
    }

    /// Updates of a task, and between two of its evaluations, by what is said and by how many evaluations there are.
    fn measures(&self, task: usize, evaluations: &[(u64, When)]) -> Result<(u64, u64), String> {
        let regular = evaluations.iter().filter(|(_, when)| *when != When::End).count() as u64;
        let all_epochs = evaluations.iter().all(|(_, when)| match when {
            When::Epochs(_, all) => *all == regular,
            _ => true,
        });
        match (self.length(task)?, self.every) {
            (Some(length), Some(every)) => Ok((length, every)),
            (Some(length), None) => {
                let at_iterations = evaluations.iter().any(|(_, when)| matches!(when, When::Iterations(_)));
                if at_iterations && length % regular != 0 {
                    return Err(format!(
                        "{regular} evaluations in the {length} updates of task {task}: say with --every how many updates lie between two"
                    ));
                }
                Ok((length, length / regular.max(1)))
            }
            (None, Some(_)) if !all_epochs => Err(format!(
                "not every epoch of task {task} was evaluated: say with --task-iterations how many updates a task has"
            )),
            (None, Some(every)) => Ok((regular.max(1) * every, every)),
            (None, None) => {
                Err("the log only counts evaluations: say with --every how many updates lie between two"
                    .to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(
        timeline: &Timeline,
        counted: Option<&[(usize, When)]>,
        task: &[(u64, f64)],
    ) -> Result<Vec<(u64, usize)>, String> {
        let counted = counted.map(|tasks| (1..).zip(tasks.iter().copied()).collect::<BTreeMap<_, _>>());
        let steps: Vec<u64> = counted.as_ref().map_or((0..6).collect(), |c| c.keys().copied().collect());
        let run = LoggedRun { counted, ..LoggedRun::default() };
        let task: Series = task.iter().copied().collect();
        let task = Some(&task).filter(|task| !task.is_empty());
        timeline.place(&run, &steps, task).map(|placed| placed.into_values().collect())
    }

    #[test]
    fn steps_fall_into_tasks_by_their_lengths() {
        let of =
            |lengths: &[u64], offset| Timeline { task_iterations: lengths.to_vec(), offset, every: None };
        let expected = [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2)];
        assert_eq!(placed(&of(&[3], 1), None, &[]).unwrap(), expected);
        // Before the first update is still task 1.
        assert_eq!(
            placed(&of(&[2, 3], 0), None, &[]).unwrap(),
            [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 2)]
        );
        assert!(
            placed(&of(&[2, 2], 0), None, &[])
                .unwrap_err()
                .contains("has 2 tasks, the log goes on in task 3")
        );
        assert!(placed(&of(&[], 0), None, &[]).unwrap_err().contains("--task-iterations"));
    }

    #[test]
    fn steps_fall_into_tasks_by_a_series() {
        let found = placed(&Timeline::default(), None, &[(1, 0.0), (4, 1.0)]).unwrap();
        assert_eq!(found, [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (5, 2)]);
        let error = placed(&Timeline::default(), None, &[(1, 0.5), (4, 1.0)]).unwrap_err();
        assert!(error.contains("tasks are whole numbers"), "{error}");
    }

    #[test]
    fn counted_evaluations_need_to_know_their_distance() {
        let every = |every, lengths: &[u64]| Timeline { every, task_iterations: lengths.to_vec(), offset: 0 };
        let placed = |timeline: &Timeline, task: &[When]| {
            let both = [(1, task), (2, task)]
                .into_iter()
                .flat_map(|(k, all)| all.iter().map(move |when| (k, *when)));
            placed(timeline, Some(&both.collect::<Vec<_>>()), &[])
        };
        let epochs = [1, 2, 3].map(|done| When::Epochs(done, 3));
        let evenly = [(10, 1), (20, 1), (30, 1), (40, 2), (50, 2), (60, 2)];
        assert_eq!(placed(&every(Some(10), &[]), &epochs).unwrap(), evenly);
        assert_eq!(placed(&every(None, &[30]), &epochs).unwrap(), evenly);
        let some = [When::Epochs(1, 3), When::Epochs(3, 3)];
        assert_eq!(placed(&every(None, &[30]), &some).unwrap(), [(10, 1), (30, 1), (40, 2), (60, 2)]);
        assert!(placed(&every(Some(10), &[]), &some).unwrap_err().contains("not every epoch of task 1"));

        let iterations = [When::Iterations(0), When::Iterations(1), When::End];
        let expected = [(1, 1), (4, 1), (5, 1), (6, 2), (9, 2), (10, 2)];
        assert_eq!(placed(&every(Some(3), &[5]), &iterations).unwrap(), expected);
        assert_eq!(placed(&every(Some(1), &[]), &iterations).unwrap()[..3], [(1, 1), (2, 1), (2, 1)]);
        let error = placed(&every(None, &[5]), &iterations).unwrap_err();
        assert!(error.contains("2 evaluations in the 5 updates of task 1"), "{error}");
        assert_eq!(placed(&every(Some(7), &[]), &[When::End]).unwrap(), [(7, 1), (14, 2)]);
        assert!(placed(&every(None, &[]), &[When::End]).unwrap_err().contains("--every"));
    }

    #[test]
    fn logs_with_steps_need_no_distance() {
        let timeline = Timeline { every: Some(1), task_iterations: vec![3], offset: 0 };
        assert!(placed(&timeline, None, &[]).unwrap_err().contains("this one has steps"));
    }
}
