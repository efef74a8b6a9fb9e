/* Libraries whose files are gone when the program ends. */
#ifndef BLAME_OMPT_TOOL_IMAGES_H
#define BLAME_OMPT_TOOL_IMAGES_H

/* Writes those files beside the measurement, for the finisher, which removes them. [init] */
void images_keep(const char *measurement);

#endif
