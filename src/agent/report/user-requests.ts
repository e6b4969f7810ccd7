// Tested by src/agent/create-agent.contract.test.ts
/** What users asked the agent for: lines of its log, and values of drifted fields. The answers go with the report. */
import { compact } from '../../core/compact.ts'
import type { NewKeyPair } from '../../core/crypto/key-pair.ts'
import { boundDriftValues, sealDriftValues } from '../../plan/drift/drift-values.ts'
import type { ObjectValues } from '../../plan/drift/drift-values.ts'
import type { CheckInAnswer, Report } from '../../wire/link/frames.ts'
import type { LogTail } from './log-tail.ts'

/** Ports of the answers to users. */
export interface UserRequestPorts {
  readonly tail: Pick<LogTail, 'lines'>
  readonly clusterId: () => string | undefined
  /** Drifted objects of a bundle; none if the bundle is not on the cluster. */
  readonly driftOf: (bundle: string) => readonly ObjectValues[]
  readonly newKeyPair: NewKeyPair
}

/** Requests of users in the answer to a check-in. */
export type UserRequests = Pick<CheckInAnswer, 'log' | 'values'>

/** Creates the answers. An answer stays in the report: without a new request the report stays the same. */
export function createUserRequests({ tail, clusterId, driftOf, newKeyPair }: UserRequestPorts) {
  let answers: Pick<Report, 'log' | 'values'> = {}

  function sealed({ asked, bundle, key }: NonNullable<UserRequests['values']>): Report['values'] {
    const id = clusterId()
    if (id === undefined) return undefined
    const values = boundDriftValues(driftOf(bundle))
    return {
      asked,
      bundle,
      key,
      sealed: sealDriftValues({ clusterId: id, bundle, asked }, key, values, newKeyPair('x25519')),
    }
  }

  return {
    answers: () => answers,
    /** Answers the requests; other answers stay. */
    answer({ log, values }: UserRequests): void {
      answers = {
        ...answers,
        ...compact({
          log: log === undefined ? undefined : { asked: log, lines: tail.lines() },
          values: values && sealed(values),
        }),
      }
    },
    /** The hub did not accept a report with the answers. */
    forget(): void {
      answers = {}
    },
  }
}
