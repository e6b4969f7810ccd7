/** A part of the page that scrolls sideways where it is too wide: reachable by keyboard exactly then. */
export function scrollable(element: HTMLElement | null): (() => void) | undefined {
  if (!element) return undefined
  const update = (): void => {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0
    else element.removeAttribute('tabindex')
  }
  const observer = new ResizeObserver(update)
  observer.observe(element)
  if (element.firstElementChild) observer.observe(element.firstElementChild)
  return () => observer.disconnect()
}
