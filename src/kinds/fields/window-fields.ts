/** Fields that Windows and ClusterWindows share. */
import {
  enumOf,
  labelSelector,
  listMap,
  listOf,
  name,
  object,
  optional,
  setOf,
  text,
  time,
  duration,
  withKeywords,
} from '../schema/schema-builders.ts'

const EXCEPTION_SUBJECTS = ['User', 'Group', 'Role'] as const

/** A user, group or role that may use an exception, or has used it. */
export const exceptionSubject = {
  kind: enumOf(EXCEPTION_SUBJECTS, {
    description:
      'Kind of the subject. `User` and `Group` are names as the API server knows them. `Role` is satisfied by callers that have the verb `use` on `exceptions.flotilla.dev` with this name.',
  }),
  name: text({ max: 253, min: 1, description: 'Name of the user, group or role.' }),
}

const TIMES_RULE = {
  rule: 'has(self.schedule) == has(self.duration) && has(self.from) == has(self.until) && has(self.schedule) != has(self.from)',
  message: 'want either schedule and duration, or from and until',
}

const glob = (description: string) => setOf(text({ max: 317, min: 1 }), { max: 64, description })

/** The fields of a window's spec; `bundles` is what its scope calls a bundle. */
export function windowFields(bundles: string) {
  return {
    mode: enumOf(['Open', 'Freeze'], {
      description:
        'Effect of the times. `Open`: changes start only within them. `Freeze`: no changes start within them. If several windows concern a bundle on a cluster, a change starts only when all of them allow it.',
    }),
    times: listOf(
      withKeywords(
        object({
          schedule: optional(
            text({
              max: 256,
              min: 1,
              description:
                'Cron expression of the start, with five fields or a short form such as `@daily`. Requires `duration`.',
            }),
          ),
          duration: optional(
            duration({
              description:
                'Duration of the window in elapsed time, for example `4h`. Unaffected by daylight saving changes.',
            }),
          ),
          from: optional(time({ description: 'Start of a single period. Requires `until`.' })),
          until: optional(time({ description: 'End of a single period.' })),
        }),
        { 'x-kubernetes-validations': [TIMES_RULE] },
      ),
      {
        min: 1,
        max: 16,
        description: 'Times of the window. Each entry has either `schedule` and `duration`, or `from` and `until`.',
      },
    ),
    zone: optional(
      text({
        max: 64,
        min: 1,
        description:
          'IANA time zone of `schedule`, for example `Europe/Berlin`. Defaults to the `spec.timeZone` of each cluster, or UTC for a cluster without one.',
      }),
    ),
    clusterSelector: optional(
      labelSelector({
        description: 'Labels of the clusters that the window concerns. If omitted, all clusters match.',
      }),
    ),
    clusters: optional(
      setOf(name(), {
        max: 256,
        description:
          'Names of the clusters that the window concerns. If `clusterSelector` is also set, a cluster must match both.',
      }),
    ),
    bundles: optional(glob(`${bundles} \`*\` stands for any text. If omitted, all Bundles match.`)),
    exceptions: optional(
      listMap(
        ['name'],
        object({
          name: text({ max: 63, min: 1, description: 'Name of the exception, unique within the window.' }),
          bundles: optional(glob(`Bundles that the exception is limited to. ${bundles}`)),
          releases: optional(glob('Names of the Releases that the exception is limited to.')),
          subjects: optional(
            listOf(object(exceptionSubject), {
              max: 32,
              min: 1,
              description:
                'Users, groups and roles that may use the exception on a Rollout with `flotilla rollout except`. The API server verifies the caller. If omitted, the exception applies to all changes without being requested.',
            }),
          ),
        }),
        { max: 16, description: 'Changes that may start although the window forbids them.' },
      ),
    ),
    reason: text({ max: 1024, min: 1, description: 'Reason of the window, shown wherever a change waits for it.' }),
  }
}

/** The columns of both kinds. */
export const WINDOW_COLUMNS = [
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
  { name: 'Zone', type: 'string', jsonPath: '.spec.zone' },
  { name: 'Valid', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
] as const
