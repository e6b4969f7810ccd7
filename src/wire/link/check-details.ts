// Tested by src/agent/policies/bound-checks.test.ts
/** The size of the texts in results of checks, which agent and gateway count alike. */
import { utf8 } from '../../core/bytes.ts'
import { canonicalJson } from '../../core/json.ts'
import type { ReportedCheck } from './frames.ts'

/** Bytes of the messages and objects of results. */
export function checkDetailBytes(checks: readonly ReportedCheck[]): number {
  return checks.reduce((sum, one) => sum + detailBytesOf(one), 0)
}

/** Bytes of the message and the objects of a result. */
export function detailBytesOf({ message = '', objects = [] }: ReportedCheck): number {
  return utf8(message).byteLength + (objects.length === 0 ? 0 : utf8(canonicalJson(objects)).byteLength)
}
