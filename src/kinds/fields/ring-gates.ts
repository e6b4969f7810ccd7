import type { Static } from 'typebox'
import {
  duration,
  enumOf,
  listMap,
  listOf,
  name,
  object,
  optional,
  text,
  withKeywords,
} from '../schema/schema-builders.ts'

const gateName = () =>
  text({
    max: 63,
    min: 1,
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    description: 'Name of the gate, unique within the ring.',
  })
const url = (description: string) =>
  text({ max: 2048, min: 1, pattern: '^https?://[A-Za-z0-9.:\\[\\]-]+(/[^\\s]*)?$', description })
const number = (description: string) =>
  text({ max: 32, min: 1, pattern: '^-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$', description })
const credentials = (description: string) => optional(name({ description }))

/**
 * The kinds of gates. A gate has exactly one of these fields; `plan/rollout/gates/judge-gates.ts` has a judge for
 * each.
 */
const CHECKS = {
  bundleReady: optional(
    object(
      { bundle: name({ description: 'Name of a Bundle in this namespace.' }) },
      { description: 'Gate that passes when the newest Release of another Bundle is rolled out completely.' },
    ),
  ),
  hours: optional(
    object(
      {
        zone: text({ max: 64, min: 1, description: 'IANA time zone of `times`, for example `Europe/Berlin`.' }),
        times: listOf(
          object({
            schedule: text({
              max: 128,
              min: 9,
              description: 'Cron expression of the start of the hours, for example `0 8 * * 1-5`.',
            }),
            duration: duration({ description: 'Duration of the hours, for example `9h`.' }),
          }),
          { max: 16, min: 1, description: 'Hours during which the gate passes. One matching entry is enough.' },
        ),
      },
      { description: 'Gate that passes only during the given hours, for example while staff is on site.' },
    ),
  ),
  webhook: optional(
    object(
      {
        url: url(
          'URL that the hub sends a POST request to. The response must be `{"allowed": true}` or `{"allowed": false, "message": "…"}`.',
        ),
        credentials: credentials(
          'Name of a Secret in this namespace whose key `token` signs the request. The annotation `flotilla.dev/urls` of the Secret must contain the URL. If omitted, the request is not signed.',
        ),
      },
      { description: 'Gate that passes when an external service allows it.' },
    ),
  ),
  metric: optional(
    object(
      {
        url: url('URL of Prometheus, or of a service with the same HTTP API.'),
        query: text({
          max: 4096,
          min: 1,
          description: 'PromQL query. All series of the result must be within the bounds.',
        }),
        duration: duration({
          description:
            'Time for which the values must stay within the bounds without a gap, counted from the time the ring became Ready, for example `15m`.',
        }),
        min: optional(number('Minimum allowed value.')),
        max: optional(number('Maximum allowed value.')),
        credentials: credentials(
          'Name of a Secret in this namespace with credentials for the URL. The annotation `flotilla.dev/urls` of the Secret must contain the URL.',
        ),
      },
      {
        description:
          'Gate that passes when the values of a metric stay within bounds. A query without data does not pass.',
      },
    ),
  ),
}

export type GateKind = keyof typeof CHECKS
/** The fields of each kind of gate. */
export type GateChecks = { [kind in GateKind]: Static<(typeof CHECKS)[kind]> }

const KINDS = Object.keys(CHECKS)
const ONE_OF = `[${KINDS.map((kind) => `has(self.${kind})`).join(', ')}].filter(there, there).size() == 1`

/** Gates of a ring: checks that must pass before the ring opens, or before it has passed. */
export const gates = () =>
  listMap(
    ['name'],
    withKeywords(
      object({
        name: gateName(),
        when: enumOf(['Pass', 'Open'], {
          default: 'Pass',
          description:
            'Time at which the gate must pass. `Pass`: after the ring is Ready and has soaked, before the ring has passed. `Open`: before the first cluster of the ring is admitted. Defaults to `Pass`.',
        }),
        ...CHECKS,
      }),
      {
        'x-kubernetes-validations': [
          { rule: ONE_OF, message: `exactly one of ${KINDS.join(', ')} is required` },
          {
            rule: '!has(self.metric) || has(self.metric.min) || has(self.metric.max)',
            message: 'min or max is required',
          },
        ],
      },
    ),
    { max: 8, description: 'Gates of the ring. All gates must pass at the same time.' },
  )
