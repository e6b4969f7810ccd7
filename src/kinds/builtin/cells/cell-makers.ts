/** What cells of Kubernetes' own tables are made of. */
import { selectorText } from '../../../core/text/label-selector.ts'
import { humanAge, parseTime } from '../../../core/time/time.ts'
import type { Cell } from '../../define-kind.ts'
import type { UnknownObject } from '../../meta.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt } from '../read-path.ts'

/** Makes a cell; `now` is in milliseconds. */
export type CellMaker = (object: UnknownObject, now: number) => Cell

/** The cells of a kind by the name of their column. */
export type Cells = Readonly<Record<string, CellMaker>>

export const NONE = '<none>'
export const UNSET = '<unset>'
export const UNKNOWN = '<unknown>'

/** The text at a path. */
export function text(path: string, none = ''): CellMaker {
  return (object) => textAt(object, path, none)
}

/** The number at a path. */
export function number(path: string): CellMaker {
  return (object) => numberAt(object, path)
}

/** The flag at a path, as a flag. */
export function flag(path: string): CellMaker {
  return (object) => readPath(object, path) === true
}

/** How many items or keys there are at a path. */
export function count(...paths: readonly string[]): CellMaker {
  return (object) => {
    const sizes = paths.map((path) => {
      const found = readPath(object, path)
      return Array.isArray(found) ? found.length : Object.keys(mapAt(object, path)).length
    })
    return sizes.reduce((sum, size) => sum + size, 0)
  }
}

/** When the object was made, as it is written. */
export const CREATED: CellMaker = ({ metadata }) => metadata.creationTimestamp ?? null

/** Labels, or any map, as `a=1,b=2`. */
function labelsText(labels: unknown): string {
  const entries = Object.entries(mapAt({ labels }, 'labels')).map(([key, value]) => `${key}=${String(value)}`)
  return entries.length === 0 ? NONE : entries.sort().join(',')
}

/** Labels at a path. */
export function labels(path: string): CellMaker {
  return (object) => labelsText(readPath(object, path))
}

/** The label selector at a path. */
export function selector(path: string): CellMaker {
  return (object) => selectorText(mapAt(object, path)) || NONE
}

/** Names of the containers of a pod's spec. */
export function containers(path: string): CellMaker {
  return (object) => namesIn(object, path, 'name')
}

/** Images of the containers of a pod's spec. */
export function images(path: string): CellMaker {
  return (object) => namesIn(object, path, 'image')
}

function namesIn(object: UnknownObject, path: string, field: string): string {
  return itemsAt(object, `${path}.containers`)
    .map((container) => textAt(container, field))
    .join(',')
}

/** Whether a condition of the status is true. */
export function hasCondition(object: UnknownObject, type: string): boolean {
  return itemsAt(object, 'status.conditions').some((it) => it['type'] === type && it['status'] === 'True')
}

/** At most three of a list, and how many more there are. */
export function firstOf(list: readonly string[], max = 3): string {
  const shown = list.slice(0, max).join(',')
  return list.length > max ? `${shown} + ${list.length - max} more...` : shown
}

/** How long ago a time is. */
export function since(time: string, now: number): string {
  const then = parseTime(time)
  return then === undefined ? UNKNOWN : humanAge(now - then)
}

/** Go's words for a flag that may be absent. */
export function flagText(value: unknown): string {
  return value === undefined ? UNSET : value === true ? 'True' : 'False'
}
