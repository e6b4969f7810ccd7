/** What Open Cluster Management reports of well-known kinds, by group and kind. */

/** Values of `WellKnownStatus`: name and JSONPath. */
export const WELL_KNOWN_STATUS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'apps/Deployment': [
    ['ReadyReplicas', '.status.readyReplicas'],
    ['Replicas', '.status.replicas'],
    ['AvailableReplicas', '.status.availableReplicas'],
  ],
  'apps/DaemonSet': [
    ['NumberReady', '.status.numberReady'],
    ['DesiredNumberScheduled', '.status.desiredNumberScheduled'],
    ['NumberAvailable', '.status.numberAvailable'],
  ],
  'batch/Job': [
    ['JobComplete', '.status.conditions[?(@.type=="Complete")].status'],
    ['JobSucceeded', '.status.succeeded'],
  ],
  '/Pod': [
    ['PodReady', '.status.conditions[?(@.type=="Ready")].status'],
    ['PodPhase', '.status.phase'],
  ],
}

const finished = (types: string) =>
  `has(object.status) && has(object.status.conditions) && object.status.conditions.exists(c, ${types} && c.status == "True")`

/** The condition Complete of `WellKnownConditions`. */
export const WELL_KNOWN_CONDITIONS: Readonly<
  Record<string, { readonly expressions: string[]; readonly messageExpression: string }>
> = {
  'batch/Job': {
    expressions: [finished('(c.type == "Complete" || c.type == "Failed")')],
    messageExpression: 'result ? "Job is finished" : "Job is not finished"',
  },
  '/Pod': {
    expressions: ['has(object.status) && has(object.status.phase) && object.status.phase in ["Succeeded", "Failed"]'],
    messageExpression: 'result ? "Pod is completed" : "Pod is not completed"',
  },
}
