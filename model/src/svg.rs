//! A trace as a sequence diagram: a lane per node, a row per step, an arrow per message from
//! where it was sent to where it was read, so that overtaking is visible.

use std::fmt::Write as _;

use klog_trace::action::{CONTROLLER, Connection, Node};
use klog_trace::view::{BrokerView, Role};
use klog_trace::{Action, Message, Step, Trace};

use crate::network::Kind;
use crate::text;

const LANE: usize = 230;
const LEFT: usize = 330;
const ROW: usize = 58;
/// Room for the state beside the last lane.
const RIGHT: usize = 90;
const TOP: usize = 70;

/// A message that was sent and not yet read.
struct Sent {
    from: Node,
    to: Node,
    connection: Connection,
    kind: Kind,
    row: usize,
    label: String,
}

/// Draws a trace.
pub fn sequence(trace: &Trace) -> String {
    let lanes = usize::from(trace.header.bounds.brokers) + 1;
    let (width, height) = (LEFT + lanes * LANE + RIGHT, TOP + (trace.steps.len() + 1) * ROW + 30);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"ui-monospace, monospace\" \
         font-size=\"13\" role=\"img\">\n<title>{}</title>\n{STYLE}\n\
         <rect width=\"{width}\" height=\"{height}\" class=\"page\"/>\n",
        escape(&title(trace))
    );
    let _ =
        writeln!(svg, "<text x=\"16\" y=\"26\" class=\"title\">{}</text>", escape(&title(trace)));
    for lane in 0..lanes {
        let name = if lane == 0 { "controller".into() } else { format!("b{lane}") };
        let (x, bottom) = (x_of(lane as Node), height - 10);
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" y1=\"58\" x2=\"{x}\" y2=\"{bottom}\" class=\"lane\"/>\
             <text x=\"{x}\" y=\"52\" text-anchor=\"middle\" class=\"name\">{name}</text>"
        );
    }
    let mut in_flight: Vec<Sent> = Vec::new();
    for envelope in &trace.start.in_flight {
        send(&mut in_flight, envelope, 0);
    }
    let last = trace.steps.len();
    for step in &trace.steps {
        draw_step(&mut svg, &mut in_flight, step, step.step == last, trace.header.verdict.as_str());
    }
    svg + "</svg>\n"
}

const STYLE: &str = "<style>\
    .page{fill:#fff}.title{font-weight:bold;fill:#111}.name{font-weight:bold;fill:#111}\
    .lane{stroke:#b9bec6;stroke-width:1}.act{fill:#111}.note{fill:#57606a;font-size:11px}\
    .bad{fill:#b3261e;font-weight:bold}.arrow{stroke:#2457a6;stroke-width:1.4;fill:none}\
    .head{fill:#2457a6}.label{fill:#2457a6;font-size:11px}.dot{fill:#111}\
    .log{fill:#0b6b3a;font-size:11px}\
    .log,.label{paint-order:stroke;stroke:#fff;stroke-width:4px}</style>";

fn title(trace: &Trace) -> String {
    let h = &trace.header;
    format!(
        "{} under {}: {} {} in {} steps",
        h.scenario, h.protocol, h.property, h.verdict, h.steps
    )
}

fn x_of(lane: Node) -> usize {
    LEFT + usize::from(lane) * LANE + LANE / 2
}

fn y_of(row: usize) -> usize {
    TOP + row * ROW
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Where a step happens, and which channel it reads from.
fn place(action: Action) -> (Node, Option<(Node, Connection, Kind)>) {
    match action {
        Action::DeliverFetch { from, to, connection } => {
            (to, Some((from, connection, Kind::Fetch)))
        }
        Action::DeliverFetchAnswer { from, to } => {
            (to, Some((from, Connection::Open, Kind::FetchAnswer)))
        }
        Action::DeliverAlterPartition { from, connection } => {
            (CONTROLLER, Some((from, connection, Kind::AlterPartition)))
        }
        Action::DeliverAlterPartitionAnswer { to } => {
            (to, Some((CONTROLLER, Connection::Open, Kind::AlterPartitionAnswer)))
        }
        Action::Produce { broker, .. }
        | Action::Verdict { broker }
        | Action::ApplyMetadata { broker, .. }
        | Action::LagCheck { broker }
        | Action::Crash { broker }
        | Action::PowerLoss { broker, .. }
        | Action::Restart { broker }
        | Action::Stop { broker }
        | Action::Resend { broker }
        | Action::TimeOut { broker }
        | Action::Truncate { broker }
        | Action::Tick { broker }
        | Action::Reset { other: broker, .. }
        | Action::Checkpoint { broker } => (broker, None),
        Action::Fence { .. }
        | Action::FenceRunning { .. }
        | Action::ShutDown { .. }
        | Action::Unfence { .. }
        | Action::ChangeMinIsr { .. }
        | Action::ClockJump
        | Action::ClockSetback
        | Action::Move { .. } => (CONTROLLER, None),
    }
}

fn send(in_flight: &mut Vec<Sent>, envelope: &klog_trace::Envelope, row: usize) {
    in_flight.push(Sent {
        from: envelope.from,
        to: envelope.to,
        connection: Connection::Open,
        kind: Kind::of(&envelope.message),
        row,
        label: label(&envelope.message),
    });
}

fn label(message: &Message) -> String {
    match message {
        Message::Fetch { epoch, offset, last_epoch, .. } => {
            let last = last_epoch.map_or("none".into(), |e| format!("e{e}"));
            format!("fetch @{offset} in e{epoch}, last {last}")
        }
        Message::FetchAnswer { error, hw, records, diverging, .. } => match (error, diverging) {
            (0, Some(d)) => format!("diverging: e{} ends at {}", d.epoch, d.offset),
            (0, None) => format!("{} hw {hw}", text::log(records)),
            (error, _) => format!("error {error}"),
        },
        Message::AlterPartition { isr, .. } => {
            format!("ISR := {:?}?", isr.iter().map(|m| m.0).collect::<Vec<_>>())
        }
        Message::AlterPartitionAnswer { error: 0, isr, .. } => format!("ISR is {isr:?}"),
        Message::AlterPartitionAnswer { error, .. } => format!("error {error}"),
    }
}

fn draw_step(svg: &mut String, in_flight: &mut Vec<Sent>, step: &Step, last: bool, verdict: &str) {
    let y = y_of(step.step);
    let (node, reads) = place(step.action);
    let bad = last && verdict == "violated";
    let class = if bad { "bad" } else { "act" };
    let sentence = escape(&step.action.to_string());
    let _ = writeln!(
        svg,
        "<text x=\"16\" y=\"{}\" class=\"{class}\">{}. {sentence}</text>\
         <circle cx=\"{}\" cy=\"{y}\" r=\"4\" class=\"dot\"/>",
        y + 4,
        step.step,
        x_of(node)
    );
    if let Some((from, connection, kind)) = reads {
        let channel = |s: &Sent| (s.from, s.to, s.connection, s.kind);
        if let Some(at) =
            in_flight.iter().position(|s| channel(s) == (from, node, connection, kind))
        {
            arrow(svg, &in_flight.remove(at), node, y);
        }
    }
    for gone in &step.discarded {
        let (from, to) = (gone.envelope.from, gone.envelope.to);
        let kind = Kind::of(&gone.envelope.message);
        let same = |s: &Sent| (s.from, s.to, s.kind) == (from, to, kind);
        if let Some(at) = in_flight.iter().position(same) {
            in_flight.remove(at);
        }
    }
    if let Action::Crash { broker } | Action::PowerLoss { broker, .. } = step.action {
        in_flight.retain(|s| s.to != broker);
        let requests = |k: Kind| matches!(k, Kind::Fetch | Kind::AlterPartition);
        for sent in in_flight.iter_mut().filter(|s| s.from == broker && requests(s.kind)) {
            sent.connection = Connection::Broken;
        }
    }
    for envelope in &step.sent {
        // The answer that an idle follower read at once is not drawn: it changed nothing.
        if step.idle != Some(envelope.to) {
            send(in_flight, envelope, step.step);
        }
    }
    for (n, view) in &step.brokers {
        let (x, y) = (x_of(*n) + 8, y + 16);
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" class=\"log\">{}</text>", state(view));
    }
}

fn state(view: &BrokerView) -> String {
    let role = match &view.role {
        Role::None => "-".into(),
        Role::Leader { epoch, isr, .. } => format!("leads e{epoch} {isr:?}"),
        Role::Follower { epoch, .. } => format!("follows e{epoch}"),
    };
    escape(&format!("{} hw {} {role}", text::log(&view.log), view.hw))
}

fn arrow(svg: &mut String, sent: &Sent, to: Node, y: usize) {
    let (x1, y1, x2) = (x_of(sent.from), y_of(sent.row), x_of(to));
    let back = if x1 < x2 { -9_i64 } else { 9 };
    let tip = x2 as i64;
    let _ = writeln!(
        svg,
        "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y}\" class=\"arrow\"/>\
         <path d=\"M{tip},{y} l{back},-4 l0,8 z\" class=\"head\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" class=\"label\">{}</text>",
        usize::midpoint(x1, x2),
        usize::midpoint(y1, y) - 5,
        escape(&sent.label)
    );
}
