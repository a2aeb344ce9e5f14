//! shares no decision with `klog`.
