/** Fields about single objects that Kustomizations and HelmReleases share, and how exactly they are supported. */
import { exact, near, refused } from '../field-table.ts'
import type { Field } from '../field-table.ts'

/** `healthCheckExprs`. */
export const HEALTH_EXPRESSIONS: Field = near(
  {
    items: {
      apiVersion: exact('text', 'All versions of its group count.'),
      kind: exact('text', ''),
      inProgress: exact('text', ''),
      failed: exact('text', ''),
      current: exact('text', ''),
    },
  },
  '`health` of the Bundle, evaluated by the agents. An expression that cannot be evaluated for an object says so in its message, and the object is not ready.',
)

/** Rules of ignored fields, at a path below `spec`. */
export function ignoreRules(path: string): Field {
  return near(
    {
      items: {
        paths: exact('texts', ''),
        target: near(
          {
            group: exact('text', ''),
            version: near('text', 'Not looked at.'),
            kind: exact('text', ''),
            namespace: exact('text', ''),
            name: near('text', 'A name, or `.*`.'),
            labelSelector: refused('text', `${path}.target.labelSelector is refused: name the object`),
            annotationSelector: refused('text', `${path}.target.annotationSelector is refused: name the object`),
          },
          '',
        ),
      },
    },
    '`ignore` of the Bundle.',
  )
}
