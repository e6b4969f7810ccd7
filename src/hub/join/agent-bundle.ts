import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'

/** The agent's bundled program, for clusters that start from nothing. */
export interface AgentBundle {
  readonly file: string
  readonly digest: Digest
}

/** The bundle beside this program, or the one `npm run build` made in a clone; undefined when there is none. */
export async function findAgentBundle(): Promise<AgentBundle | undefined> {
  const isClone = extname(import.meta.filename) === '.ts'
  const file = join(import.meta.dirname, isClone ? '../../../dist' : '.', 'agent.mjs')
  try {
    return { file, digest: digestOf(new Uint8Array(await readFile(file))) }
  } catch {
    return undefined
  }
}
