/** Objects as a tree of names and values, as `clusteradm` prints them. */
import { cellText } from '../../../print/table.ts'

type Lines = readonly (readonly [path: string, value: unknown])[]

/** The tree of objects of a kind, each with its lines; a dot in a path begins a level. */
export function treeText(kind: string, objects: ReadonlyMap<string, Lines>): string {
  const names = [...objects.keys()]
  const lines = [`<${kind}>`]
  for (const [index, name] of names.entries()) {
    const isLast = index === names.length - 1
    lines.push(`${isLast ? '└──' : '├──'} <${name}>`)
    lines.push(...branches(objects.get(name)!, isLast ? '    ' : '│   '))
  }
  return `${lines.join('\n')}\n`
}

function branches(lines: Lines, indent: string): string[] {
  const groups = Map.groupBy(lines, ([path]) => path.split('.')[0]!)
  return [...groups].flatMap(([head, members], index) => {
    const isLast = index === groups.size - 1
    const sign = `${indent}${isLast ? '└──' : '├──'} <${head}>`
    const own = members.find(([path]) => path === head)
    if (own) return [`${sign} ${cellText(own[1], '')}`.trimEnd()]
    const rest = members.map(([path, value]) => [path.slice(head.length + 1), value] as const)
    return [sign, ...branches(rest, `${indent}${isLast ? '    ' : '│   '}`)]
  })
}
