//! Why a stream cannot be made.

use thiserror::Error;

/// A stream that cannot be made from its data set.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// No task was asked for.
    #[error("{data}: a stream needs at least one task")]
    NoTasks {
        /// The name of the data set.
        data: String,
    },
    /// The classes do not divide into tasks of that size.
    #[error(
        "{data}: {classes} classes do not divide into tasks of {per_task}; list the classes of each task"
    )]
    Indivisible {
        /// The name of the data set.
        data: String,
        /// The number of classes that it has.
        classes: usize,
        /// The number of classes per task.
        per_task: String,
    },
    /// A listed order of classes does not divide into tasks of that size.
    #[error("class_order: {classes} classes do not divide into tasks of {per_task}")]
    ClassOrder {
        /// The number of classes that are named.
        classes: usize,
        /// The number of classes per task.
        per_task: String,
    },
    /// A class that the data set does not have.
    #[error("{data}: task {task} asks for class {class}, but there are {classes} classes")]
    UnknownClass {
        /// The name of the data set.
        data: String,
        /// The task, counted from 1.
        task: usize,
        /// The label of the class.
        class: u16,
        /// The number of classes that it has.
        classes: usize,
    },
    /// A class in two tasks, or twice in one.
    #[error("{data}: class {class} is asked for twice")]
    RepeatedClass {
        /// The name of the data set.
        data: String,
        /// The label of the class.
        class: u16,
    },
    /// A task without training or test examples.
    #[error("{data}: task {task} has {train} training and {test} test examples; both are needed")]
    EmptyTask {
        /// The name of the data set.
        data: String,
        /// The task, counted from 1.
        task: usize,
        /// The number of its training examples.
        train: usize,
        /// The number of its test examples.
        test: usize,
    },
    /// An angle that is no number.
    #[error("{data}: {degrees} is not an angle in degrees")]
    BadAngle {
        /// The name of the data set.
        data: String,
        /// What was given as an angle.
        degrees: f64,
    },
    /// Something that only images have was asked of other data.
    #[error("{data}: holds no images, and only images can be rotated")]
    NotImages {
        /// The name of the data set.
        data: String,
    },
    /// A stream by task from a data set that names no tasks.
    #[error(
        "{data}: names no task per example; a task-column stream needs a column called task (features: and text: read one)"
    )]
    NoTaskColumn {
        /// The name of the data set.
        data: String,
    },
    /// A task in the order of tasks that the stream does not have.
    #[error("task_order: names task {task}, but the stream has the tasks 1 to {tasks}")]
    TaskOrder {
        /// The task, counted from 1.
        task: usize,
        /// The number of tasks of the stream.
        tasks: usize,
    },
    /// More visits of a task than it has training examples to deal out.
    #[error("task_order: visits task {task} {visits} times, but it has {examples} training examples")]
    TooManyVisits {
        /// The task, counted from 1.
        task: usize,
        /// How often the order names it.
        visits: usize,
        /// The number of its training examples.
        examples: usize,
    },
    /// A domain stream from a data set without superclasses.
    #[error("{data}: has no coarse labels; a domain stream needs them (cifar100 has)")]
    NoCoarseLabels {
        /// The name of the data set.
        data: String,
    },
    /// A fine class whose examples have different coarse labels.
    #[error("{data}: fine class {fine} lies in the coarse classes {first} and {second}")]
    AmbiguousCoarse {
        /// The name of the data set.
        data: String,
        /// The label of the fine class.
        fine: u16,
        /// One of its coarse classes.
        first: u16,
        /// Another of its coarse classes.
        second: u16,
    },
    /// More tasks than some coarse class has fine classes.
    #[error(
        "{data}: {tasks} tasks need {tasks} fine classes in every coarse class; class {coarse} has {fine}"
    )]
    TooFewFine {
        /// The name of the data set.
        data: String,
        /// The number of tasks asked for.
        tasks: usize,
        /// The label of the coarse class.
        coarse: u16,
        /// The number of its fine classes.
        fine: usize,
    },
}
