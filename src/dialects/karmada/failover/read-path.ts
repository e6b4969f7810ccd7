/** Reads one value of a status by a template such as `{.jobStatus.jobID}`. */
import { evaluateJsonPath, parseJsonPath } from '../../../kinds/json-path.ts'

const MAX_TEMPLATE = 1024

/** The text of the value; a value that is absent is an error. */
export function readPath(value: unknown, template: string): string {
  const path = template.length > MAX_TEMPLATE ? undefined : /^\{\s*\$?([^{}]*)\}$/.exec(template)?.[1]?.trim()
  const steps = path === undefined ? undefined : parseJsonPath(path)
  if (!steps) throw new Error(`jsonPath ${JSON.stringify(template)}: want a path such as {.jobStatus.jobID}`)
  const found = evaluateJsonPath(value, steps)
  if (found.length === 0) throw new Error(`jsonPath ${JSON.stringify(template)} is not found in the status`)
  return found.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(' ')
}
