//! The modules as stateright models, packed for the search.

use levelwise::{Codec, Symmetric};
use stateright::{Model, Property as Condition};

use super::async_isr::AsyncIsr;
use super::{Action, Order, Property, State, Twin, async_isr};

impl Model for Twin {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.initial()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.successors(state, &mut |action, _| actions.push(action));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut found = None;
        self.successors(state, &mut |taken, next| {
            if taken == action {
                found = Some(next);
            }
        });
        found
    }

    fn format_action(&self, action: &Action) -> String {
        action.to_string()
    }

    fn properties(&self) -> Vec<Condition<Self>> {
        Property::ALL.map(condition).to_vec()
    }
}

fn condition(property: Property) -> Condition<Twin> {
    let holds: fn(&Twin, &State) -> bool = match property {
        Property::WeakIsr => |_, state| Property::WeakIsr.holds(state),
        Property::StrongIsr => |_, state| Property::StrongIsr.holds(state),
        Property::LeaderInIsr => |_, state| Property::LeaderInIsr.holds(state),
        Property::EpochsMonotone => |_, state| Property::EpochsMonotone.holds(state),
        Property::HwAgree => |_, state| Property::HwAgree.holds(state),
        Property::LogMatching => |_, state| Property::LogMatching.holds(state),
        Property::HwWithinLog => |_, state| Property::HwWithinLog.holds(state),
    };
    Condition::always(property.name(), holds)
}

impl Codec for Twin {
    fn pack(&self, state: &State, row: &mut Vec<u32>) {
        Twin::pack(self, state, row);
    }

    fn unpack(&self, row: &[u32]) -> State {
        Twin::unpack(self, row)
    }

    fn kinds(&self) -> Vec<String> {
        Action::KINDS.iter().map(ToString::to_string).collect()
    }

    fn kind(&self, action: &Action) -> usize {
        action.kind_index()
    }

    fn guards(&self) -> Vec<String> {
        self.module.guards.iter().map(|guard| guard.name().to_owned()).collect()
    }

    fn steps(
        &self,
        state: &State,
        each: &mut impl FnMut(Action, Option<State>),
        refused: &mut impl FnMut(usize),
    ) {
        let number = |guard| self.module.guards.iter().position(|it| *it == guard);
        let refused = &mut |guard| refused(number(guard).expect("a guard of the module"));
        self.explore(state, &mut |action, next| each(action, Some(next)), refused);
    }
}

impl Symmetric for Twin {
    type Renaming = Order;

    fn orders(&self) -> Vec<Vec<u8>> {
        let replicas = self.constants.replicas;
        Twin::orders(self).iter().map(|order| order.ids(replicas)).collect()
    }

    fn renaming(&self, order: &[u8]) -> Order {
        Order::new(order)
    }

    fn rename(&self, state: &State, by: &Order) -> State {
        state.permute(by)
    }

    fn rename_action(&self, action: Action, by: &Order) -> Action {
        action.permute(by)
    }
}

impl Model for AsyncIsr {
    type State = async_isr::State;
    type Action = async_isr::Action;

    fn init_states(&self) -> Vec<Self::State> {
        vec![self.initial()]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        self.successors(state, &mut |action, _| actions.push(action));
    }

    fn next_state(&self, state: &Self::State, action: Self::Action) -> Option<Self::State> {
        let mut found = None;
        self.successors(state, &mut |taken, next| {
            if taken == action {
                found = Some(next);
            }
        });
        found
    }

    fn format_action(&self, action: &Self::Action) -> String {
        action.to_string()
    }

    fn properties(&self) -> Vec<Condition<Self>> {
        let valid = async_isr::Property::ValidHighWatermark;
        vec![Condition::always(valid.name(), |twin, state| {
            async_isr::Property::ValidHighWatermark.holds(twin, state)
        })]
    }

    fn within_boundary(&self, state: &Self::State) -> bool {
        self.admits(state)
    }
}

impl Codec for AsyncIsr {
    fn pack(&self, state: &Self::State, row: &mut Vec<u32>) {
        AsyncIsr::pack(self, state, row);
    }

    fn unpack(&self, row: &[u32]) -> Self::State {
        AsyncIsr::unpack(self, row)
    }

    fn kinds(&self) -> Vec<String> {
        async_isr::Action::KINDS.iter().map(ToString::to_string).collect()
    }

    fn kind(&self, action: &Self::Action) -> usize {
        action.kind_index()
    }

    fn guards(&self) -> Vec<String> {
        vec![Self::REFUSES.name().to_owned()]
    }

    fn steps(
        &self,
        state: &Self::State,
        each: &mut impl FnMut(Self::Action, Option<Self::State>),
        refused: &mut impl FnMut(usize),
    ) {
        self.explore(state, &mut |action, next| each(action, Some(next)), &mut || refused(0));
    }
}

impl Symmetric for AsyncIsr {
    type Renaming = Order;

    fn orders(&self) -> Vec<Vec<u8>> {
        AsyncIsr::orders(self).iter().map(|order| order.ids(self.replicas)).collect()
    }

    fn renaming(&self, order: &[u8]) -> Order {
        Order::new(order)
    }

    fn rename(&self, state: &Self::State, by: &Order) -> Self::State {
        state.permute(by)
    }

    fn rename_action(&self, action: Self::Action, by: &Order) -> Self::Action {
        action.permute(by)
    }
}
