//! Somebody else's actors, checked as they are: `cargo run -p levelwise --example actors`.

use levelwise::graph::Fair;
use levelwise::stateright_actors::Stateright;
use levelwise::system::Actors;
use levelwise::{Options, explore_graph};

/// What somebody else wrote.
mod theirs {
    use std::borrow::Cow;

    use stateright::Expectation::{Always, Eventually};
    use stateright::actor::{Actor, ActorModel, Id, LossyNetwork, Out, model_timeout};

    /// One sends until the other has answered; messages may be lost.
    #[derive(Clone)]
    pub enum Node {
        Sender,
        Receiver,
    }

    impl Actor for Node {
        type Msg = ();
        type Timer = ();
        /// Whether something came.
        type State = bool;
        type Random = ();
        type Storage = ();

        fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> bool {
            if let Self::Sender = self {
                out.set_timer((), model_timeout());
            }
            false
        }

        fn on_msg(&self, _: Id, got: &mut Cow<'_, bool>, from: Id, (): (), out: &mut Out<Self>) {
            if !**got {
                *got.to_mut() = true;
            }
            if let Self::Receiver = self {
                out.send(from, ());
            }
        }

        fn on_timeout(&self, _: Id, got: &mut Cow<'_, bool>, (): &(), out: &mut Out<Self>) {
            if !**got {
                out.send(Id::from(1), ());
                out.set_timer((), model_timeout());
            }
        }
    }

    pub fn model() -> ActorModel<Node> {
        ActorModel::new((), ())
            .actors([Node::Sender, Node::Receiver])
            .lossy_network(LossyNetwork::Yes)
            .property(Always, "in order", |_, s| *s.actor_states[1] || !*s.actor_states[0])
            .property(Eventually, "answered", |_, s| *s.actor_states[0])
    }
}

fn main() {
    let space = Actors::new(Stateright::new(theirs::model()), 0);
    let (outcome, graph) = explore_graph(&space, &Options::default());
    assert!(outcome.exhausted() && outcome.hit("in order").is_none());
    println!("{} states, {} levels", outcome.unique, outcome.depth);

    // Whatever was lost: it can still be answered. But it need not be, even if the timer runs out
    // again and again, and here is why.
    let answered = graph.tally("answered").expect("a property");
    assert!(graph.can_reach(answered, None).holds());
    let timer = Fair::changing(graph.kinds_named(&["timeout"]));
    let answer = graph.eventually(answered, &timer);
    let lasso = answer.violation().expect("all may be lost");
    let run = lasso.replay(&space).expect("the model answers the same twice");
    for (n, (action, _)) in run.path.steps.iter().enumerate() {
        println!("{} {action:?}", if n < run.stem { "once   " } else { "forever" });
    }
}
