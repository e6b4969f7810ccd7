/** The families of Karmada's recorded answers, each with the product's function that answers it. */
import { answerScheduleCase } from '../../../src/dialects/karmada/schedule/answer-case.ts'
import type { Families } from '../recorded-case.ts'
import { answerAdmit } from './admit-cases.ts'
import { answerDivision } from './division-cases.ts'
import { answerFailover } from './failover-cases.ts'
import { answerInterpret } from './interpret-cases.ts'
import { answerMatch } from './match-cases.ts'
import { answerOverride } from './override-cases.ts'

export const KARMADA_FAMILIES: Families = {
  schedule: answerScheduleCase,
  division: answerDivision,
  override: answerOverride,
  match: answerMatch,
  failover: answerFailover,
  admit: answerAdmit,
  interpret: answerInterpret,
}
