// Tested by src/dialects/flux/recorded.contract.test.ts.
/** Metadata of formats without nesting: `age__list_0__map_enc` is the field `enc` of the first entry of `age`. */
import { readWholeNumber } from '../../../core/read-number.ts'
import { SopsError } from '../sops-error.ts'
import { SopsBranch } from '../sops-tree.ts'
import type { SopsValue } from '../sops-tree.ts'

const MAX_ITEMS = 1_000
const MAX_DEPTH = 8

/** The metadata as a tree; throws SopsError. Line ends are written as `\n`. */
export function nestedMetadata(flat: readonly (readonly [key: string, text: string])[]): SopsBranch {
  if (flat.length === 0) throw new SopsError('sops metadata not found')
  const root = new SopsBranch()
  for (const [key, text] of flat) put(root, key.split(/__(?=list_\d+|map_)/), text.replaceAll('\\n', '\n'))
  return root
}

function put(root: SopsBranch, [first = '', ...rest]: readonly string[], text: string): void {
  if (rest.length > MAX_DEPTH) throw new SopsError('the metadata is nested too deeply')
  let place: { get(): SopsValue | undefined; set(value: SopsValue): void } = fieldOf(root, first)
  for (const step of rest) {
    if (step.startsWith('map_')) {
      const known = place.get()
      const branch = known instanceof SopsBranch ? known : new SopsBranch()
      place.set(branch)
      place = fieldOf(branch, step.slice('map_'.length))
    } else {
      const index = readWholeNumber(step.slice('list_'.length)) ?? MAX_ITEMS
      if (index >= MAX_ITEMS) throw new SopsError(`the metadata has a list of more than ${MAX_ITEMS} entries`)
      const known = place.get()
      const list = Array.isArray(known) ? known : []
      place.set(list)
      while (list.length <= index) list.push(new SopsBranch())
      place = { get: () => list[index], set: (value) => void (list[index] = value) }
    }
  }
  place.set(text)
}

function fieldOf(branch: SopsBranch, key: string) {
  return {
    get: () => branch.get(key),
    set: (value: SopsValue): void => {
      const found = branch.items.find((item) => item.key === key)
      if (found?.key === undefined) branch.items.push({ key, value })
      else found.value = value
    },
  }
}
