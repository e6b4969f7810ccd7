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

const gateName = () => text({ max: 63, min: 1, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' })
const url = (description: string) =>
  text({ max: 2048, min: 1, pattern: '^https?://[A-Za-z0-9.:\\[\\]-]+(/[^\\s]*)?$', description })
const number = (description: string) =>
  text({ max: 32, min: 1, pattern: '^-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$', description })
const credentials = (description: string) => optional(name({ description }))

const KINDS = ['bundleReady', 'hours', 'webhook', 'metric'] as const
const ONE_OF = `[${KINDS.map((kind) => `has(self.${kind})`).join(', ')}].filter(there, there).size() == 1`

/** What the world must say before a ring opens, or before it is through. */
export const gates = () =>
  listMap(
    ['name'],
    withKeywords(
      object({
        name: gateName(),
        when: enumOf(['Pass', 'Open'], {
          default: 'Pass',
          description:
            'Pass: after the ring is Ready and has soaked, before it counts as through. Open: before anybody of the ring is admitted.',
        }),
        bundleReady: optional(
          object(
            { bundle: name({ description: 'A Bundle in this namespace.' }) },
            { description: 'The newest Release of another Bundle is rolled out completely.' },
          ),
        ),
        hours: optional(
          object(
            {
              zone: text({ max: 64, min: 1, description: 'A time zone such as `Europe/Berlin`.' }),
              times: listOf(
                object({
                  schedule: text({
                    max: 128,
                    min: 9,
                    description: 'Cron: when the hours begin, such as `0 8 * * 1-5`.',
                  }),
                  duration: duration({ description: 'How long they last.' }),
                }),
                { max: 16, min: 1, description: 'Any of these.' },
              ),
            },
            { description: 'Somebody is there.' },
          ),
        ),
        webhook: optional(
          object(
            {
              url: url(
                'Where the hub asks with a POST; the answer is `{"allowed": true}` or `{"allowed": false, "message": "…"}`.',
              ),
              credentials: credentials(
                'A Secret in this namespace, bound to the address by its annotation `flotilla.dev/urls`, whose `token` signs the question.',
              ),
            },
            { description: 'Somebody else says yes.' },
          ),
        ),
        metric: optional(
          object(
            {
              url: url('The address of Prometheus, or of what speaks its HTTP API.'),
              query: text({
                max: 4096,
                min: 1,
                description: 'PromQL; every series of its answer must be within the bounds.',
              }),
              duration: duration({ description: 'For how long, without a gap; after the ring was Ready.' }),
              min: optional(number('The least value.')),
              max: optional(number('The greatest value.')),
              credentials: credentials(
                'A Secret in this namespace, bound to the address by its annotation `flotilla.dev/urls`.',
              ),
            },
            { description: 'A metric stays within bounds. No data is no success.' },
          ),
        ),
      }),
      {
        'x-kubernetes-validations': [
          { rule: ONE_OF, message: `say exactly one of ${KINDS.join(', ')}` },
          {
            rule: '!has(self.metric) || has(self.metric.min) || has(self.metric.max)',
            message: 'a metric needs min, max or both',
          },
        ],
      },
    ),
    { max: 8, description: 'What the world must say; all of them at the same time.' },
  )
