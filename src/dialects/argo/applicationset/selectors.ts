/** Selectors of generators: over labels of cluster Secrets, and over parameters. */
import { ApplicationSetError } from './applicationset-error.ts'

/** A selector as in Kubernetes. */
export interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key?: string
    readonly operator?: string
    readonly values?: readonly string[]
  }[]
}

/** Whether labels fit. */
export type Matcher = (labels: ReadonlyMap<string, string>) => boolean

const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

function isQualifiedName(key: string): boolean {
  const [first = '', second, ...more] = key.split('/')
  if (more.length > 0) return false
  if (second === undefined) return NAME.test(first)
  return first.length <= 253 && PREFIX.test(first) && NAME.test(second)
}

/** Compiles a selector; `strict` also checks that values are values of labels. */
export function compileSelector({ matchLabels = {}, matchExpressions = [] }: Selector, strict: boolean): Matcher {
  const tests = [
    ...Object.entries(matchLabels).map(([key, value]) => requirement(key, 'In', [value], strict)),
    ...matchExpressions.map(({ key = '', operator = '', values = [] }) => requirement(key, operator, values, strict)),
  ]
  return (labels) => tests.every((test) => test(labels))
}

function requirement(key: string, operator: string, values: readonly string[], strict: boolean): Matcher {
  if (!['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator)) {
    throw new ApplicationSetError(
      `${JSON.stringify(operator)} is not a valid label selector operator; write In, NotIn, Exists or DoesNotExist`,
    )
  }
  if (!isQualifiedName(key)) throw new ApplicationSetError(`key: Invalid value: ${JSON.stringify(key)}`)
  const isUnary = operator === 'Exists' || operator === 'DoesNotExist'
  if (isUnary && values.length > 0) {
    throw new ApplicationSetError('values: Invalid value: values set must be empty for exists and does not exist')
  }
  if (!isUnary && values.length === 0) {
    throw new ApplicationSetError("values: Invalid value: for 'in', 'notin' operators, values set can't be empty")
  }
  const bad = strict ? values.find((value) => value !== '' && !NAME.test(value)) : undefined
  if (bad !== undefined) throw new ApplicationSetError(`values: Invalid value: ${JSON.stringify(bad)}`)
  switch (operator) {
    case 'In':
      return (labels) => labels.has(key) && values.includes(labels.get(key)!)
    case 'NotIn':
      return (labels) => !labels.has(key) || !values.includes(labels.get(key)!)
    case 'Exists':
      return (labels) => labels.has(key)
    default:
      return (labels) => !labels.has(key)
  }
}
