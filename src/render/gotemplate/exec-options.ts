/** What running a template takes and how it fails. */
import type { GoFunction } from './function.ts'
import { goBytes } from './go-string.ts'
import type { AnyNode } from './node.ts'
import type { Tree } from './parse.ts'

/** What a set of templates runs with. */
export interface ExecOptions {
  readonly template: (name: string) => Tree | undefined
  readonly functions: ReadonlyMap<string, GoFunction>
  /**
   * What a missing key of a map is: the zero value of its type (default, `missingkey=zero`), no value at all
   * (`missingkey=invalid`, Go's own default), or an error, as `helm --strict` asks.
   */
  readonly missingKey?: 'zero' | 'invalid' | 'error'
  /** Called for every node walked; throws to stop a template that runs for too long. */
  readonly step?: (tree: Tree, node: AnyNode) => void
  /** Called for every piece written, with its length; throws to stop a template that writes too much. */
  readonly wrote?: (length: number, tree: Tree, node: AnyNode) => void
  /** Receives each piece of output with the tree and node that made it. */
  readonly trace?: (piece: string, tree: Tree, node: AnyNode) => void
}

/** A template that failed while it ran; the message is Go's. */
export class TemplateExecError extends Error {
  override readonly name = 'TemplateExecError'
}

/** `file:line:column` of a node; the column counts bytes from 0, as Go's does. */
export function locate(tree: Tree, node: AnyNode): string {
  const before = tree.text.slice(0, node.pos)
  const lineStart = before.lastIndexOf('\n') + 1
  const line = before.split('\n').length
  return `${tree.parseName}:${line}:${goBytes(before.slice(lineStart)).length}`
}
