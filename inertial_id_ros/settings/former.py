# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of earlier versions: what a parameter file that still has them should have instead."""

_CONSTANT = "it is a constant now, as nobody had to change it; remove the line"
FORMER = {
    **dict.fromkeys((
        "kinematics.window", "kinematics.max_gap", "buffer.slice", "contact.enter", "contact.leave",
        "contact.hold", "change.steady", "change.fit", "estimator.dynamism_c1",
        "load.friction_drift", "compensation.blend_time", "compensation.filter_time",
        "apply.rest_speed", "apply.timeout", "lifecycle.bond_period", "black_box.size",
        "black_box.keep"), _CONSTANT),
    "tf.static_topic": "static transforms are read from the name in tf.topic with _static behind "
                       "it; remap that",
    "tare.force_drift": "it follows from wrench.force_drift; remove the line",
    "tare.torque_drift": "it follows from wrench.torque_drift; remove the line",
    "apply.node": "name the node in apply.service",
    "apply.tool_name": "name the tool in apply.tool",
    "apply.schedule": "give the number in apply.tool, as text",
    "apply.interval": "give the interval in apply.automatic, where 0 means never",
    "apply.max_com": "a centre of mass farther than 1 m from its frame is never sent; remove the "
                     "line",
    "apply.max_inertia": "nothing bounds the inertia but the mass, apply.max_mass; remove the line",
    "apply.require_idle": "a Franka is always told its payload while idle; remove the line",
}
