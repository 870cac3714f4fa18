# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of earlier versions: what a parameter file that still has them should have instead."""

_CONSTANT = "it is a constant now, as nobody had to change it; remove the line"
FORMER = {
    **dict.fromkeys((
        "kinematics.window", "kinematics.max_gap", "buffer.slice", "contact.enter", "contact.leave",
        "contact.hold", "change.steady", "change.fit", "estimator.dynamism_c1",
        "load.friction_drift", "compensation.blend_time", "compensation.filter_time",
        "apply.rest_speed", "apply.timeout", "lifecycle.bond_period", "black_box.size",
        "black_box.keep", "contact.longest", "estimator.min_duration", "lmi.epsilon",
        "manifold.max_iterations", "manifold.deadline", "pmd.regularization"), _CONSTANT),
    **{f"wrench.{channel}_{name}": f"give both, of a force and of a torque, in wrench.{name}"
       for name in ("noise", "bias_sd", "range", "accuracy", "drift")
       for channel in ("force", "torque")},
    **{f"accelerations.{name}": "give the three, of linear acceleration, angular acceleration and "
       "angular velocity, in accelerations.noise"
       for name in ("linear_noise", "angular_noise", "angular_velocity_noise")},
    **{f"shape.{name}": "give one factor for position, rotation and size in shape.error, where 1 "
       "stands for 0.01 m, 5 deg and 20 %, and 0 for an exact shape"
       for name in ("position_sd", "rotation_sd", "scale_sd")},
    "load.source": "load.robot alone says it: a robot file means joint torques, none a wrench; "
                   "remove the line",
    "entropic.selection": "entropic.gamma alone says it: 0 lets the data choose the weight, any "
                          "other is used as it is; remove the line",
    "pmd.whiten": "pmd.form says it: published takes N and N m as they are",
    "black_box.on_error": "an error always writes one; black_box.duration 0 switches all off",
    "black_box.report": "~/save always makes a report; remove the line",
    "compensation.max_age": "nothing is published beyond the age in compensation.stop_after; a "
                            "finding names an estimate that is older than two minutes",
    "compensation.when_old": "nothing is published beyond the age in compensation.stop_after, "
                             "where 0 means never",
    "tf.static_topic": "static transforms are read from the name in tf.topic with _static behind "
                       "it; remap that",
    "tare.force_drift": "it follows from wrench.drift; remove the line",
    "tare.torque_drift": "it follows from wrench.drift; remove the line",
    "apply.node": "name the node in apply.service",
    "apply.tool_name": "name the tool in apply.tool",
    "apply.schedule": "give the number in apply.tool, as text",
    "apply.interval": "give the interval in apply.automatic, where 0 means never",
    "apply.max_com": "a centre of mass farther than 1 m from its frame is never sent; remove the "
                     "line",
    "apply.max_inertia": "nothing bounds the inertia but the mass, apply.max_mass; remove the line",
    "apply.require_idle": "a Franka is always told its payload while idle; remove the line",
}
