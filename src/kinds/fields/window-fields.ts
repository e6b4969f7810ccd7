/** What Windows and ClusterWindows have in common. */
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

/** Who somebody is when they use an exception. */
const EXCEPTION_SUBJECTS = ['User', 'Group', 'Role'] as const

/** Somebody who may use an exception, or who did. */
export const exceptionSubject = {
  kind: enumOf(EXCEPTION_SUBJECTS, {
    description:
      'User and Group as the API knows them. Role: who has the verb `use` on `exceptions.flotilla.dev` of this name.',
  }),
  name: text({ max: 253, min: 1 }),
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
        'Open: content begins only within these times. Freeze: content does not begin within them. Of all that concern a bundle on a cluster the tighter wins.',
    }),
    times: listOf(
      withKeywords(
        object({
          schedule: optional(
            text({
              max: 256,
              min: 1,
              description:
                'Cron, five fields or a short form such as `@daily`: when it begins, on a clock at the site. With `duration`.',
            }),
          ),
          duration: optional(duration({ description: 'How long it lasts, in time that passes.' })),
          from: optional(time({ description: 'Once, from then. With `until`.' })),
          until: optional(time({ description: 'Until then.' })),
        }),
        { 'x-kubernetes-validations': [TIMES_RULE] },
      ),
      { min: 1, max: 16, description: 'Any of these: `schedule` and `duration`, or `from` and `until`.' },
    ),
    zone: optional(
      text({
        max: 64,
        min: 1,
        description:
          "IANA time zone of `schedule`, such as `Europe/Berlin`. Absent: each cluster's own (`spec.timeZone`), UTC where it has none.",
      }),
    ),
    clusterSelector: optional(labelSelector({ description: 'Labels of the clusters; absent: all.' })),
    clusters: optional(setOf(name(), { max: 256, description: 'Clusters by name; with a selector, both must hold.' })),
    bundles: optional(glob(`${bundles} \`*\` stands for any text; absent: all.`)),
    exceptions: optional(
      listMap(
        ['name'],
        object({
          name: text({ max: 63, min: 1, description: 'What it is called where it is used.' }),
          bundles: optional(glob(`Only these bundles. ${bundles}`)),
          releases: optional(glob('Only these Releases, by name.')),
          subjects: optional(
            listOf(object(exceptionSubject), {
              max: 32,
              min: 1,
              description:
                'Who may use it, on a Rollout (`flotilla rollout except`); the API checks that they are who they say. Absent: it holds by itself.',
            }),
          ),
        }),
        { max: 16, description: 'What passes all the same.' },
      ),
    ),
    reason: text({ max: 1024, min: 1, description: 'Why, for everybody who is held by it.' }),
  }
}

/** The columns of both kinds. */
export const WINDOW_COLUMNS = [
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
  { name: 'Zone', type: 'string', jsonPath: '.spec.zone' },
  { name: 'Valid', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
] as const
