import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { exampleKind } from './builtin-kinds.ts'
import type { Api, ApiCase } from '../harness.ts'
import { openApiPath } from '../../../kinds/openapi.ts'
import { INVALID_SPECS } from './invalid-spec-examples.ts'
import type { InvalidSpec } from './invalid-spec-examples.ts'

/** Built-in kinds spoiled in one way each: both homes say the same against them, or nothing. */

/**
 * Where it is kept what a kube-apiserver says against spoiled specs: `ok` or what is invalid, by what is recorded as
 * their title.
 */
export const SPOILED_FILE = new URL('../../fixtures/builtin-spoiled.json', import.meta.url)

/** By which an answer is found. */
export const spoiledTitle = ({ kind, spec }: InvalidSpec): string => `${kind} ${JSON.stringify(spec)}`

/** What a home says against an object. */
export async function validationAnswer(api: Api, { apiVersion, kind, spec }: InvalidSpec): Promise<string> {
  const served = exampleKind({ object: { apiVersion, kind } })
  const path = `/${openApiPath(served)}/namespaces/${api.namespace}/${served.plural}?dryRun=All`
  const { status, text } = await api.send('POST', path, {
    body: { apiVersion, kind, metadata: { name: 'shown' }, spec },
  })
  if (status === 201) return 'ok'
  const { message } = JSON.parse(text) as { message: string }
  return message.replace(/^.*? is invalid: /, '')
}

/** The cases. */
export const SPOILED_CASES: readonly ApiCase[] = Object.entries(INVALID_SPECS).map(([title, specs]) => ({
  title,
  async run(api) {
    const known = JSON.parse(readFileSync(SPOILED_FILE, 'utf8')) as Readonly<Record<string, string>>
    for (const spoiled of specs) {
      assert.equal(await validationAnswer(api, spoiled), known[spoiledTitle(spoiled)], spoiledTitle(spoiled))
    }
  },
}))
