/**
 * Answers recorded questions with the product's own functions: `node test/recorded/answer.ts SYSTEM FAMILY` reads cases
 * without their answers as JSON lines on standard input and prints `{"id": …, "answer": …}` for each.
 */
import { createInterface } from 'node:readline'
import { ARGO_FAMILIES } from './argo/families.ts'
import { FLUX_FAMILIES } from './flux/families.ts'
import { KARMADA_FAMILIES } from './karmada/families.ts'
import { OCM_FAMILIES } from './ocm/families.ts'
import type { Families, RecordedCase } from './recorded-case.ts'

/** The systems whose answers are recorded. */
export const SYSTEMS: Readonly<Record<string, Families>> = {
  argo: ARGO_FAMILIES,
  flux: FLUX_FAMILIES,
  karmada: KARMADA_FAMILIES,
  ocm: OCM_FAMILIES,
}

async function main([system = '', family = '']: readonly string[]): Promise<void> {
  const families = SYSTEMS[system]
  const answer = families?.[family]
  if (!answer) {
    const known = Object.entries(SYSTEMS).map(([name, those]) => `${name} ${Object.keys(those).join('|')}`)
    process.stderr.write(`usage: answer.ts SYSTEM FAMILY, with ${known.join(' or ')}\n`)
    process.exitCode = 2
    return
  }
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue
    const input = JSON.parse(line) as RecordedCase
    process.stdout.write(`${JSON.stringify({ id: input.id, answer: await answer(input) })}\n`)
  }
}

if (import.meta.main) await main(process.argv.slice(2))
