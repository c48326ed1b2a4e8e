// An island is an element of a page that a script brings to life: <div data-island="live" …>. The page says the same without it.

// islands starts what is behind each element of the page with that name. One that fails leaves the page as it was.
export function islands(name: string, start: (element: HTMLElement) => void): void {
  for (const element of document.querySelectorAll<HTMLElement>(`[data-island="${name}"]`)) {
    try {
      start(element);
    } catch (error) {
      console.error(error);
    }
  }
}

// setting reads an attribute data-… of an island that its page always sets.
export function setting(element: HTMLElement, name: string): string {
  const value = element.dataset[name];
  if (value === undefined) {
    throw new Error(`the element of the island has no data-${name}`);
  }
  return value;
}
